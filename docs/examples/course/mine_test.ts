import {
  idempotencyContract,
  petStorageContract,
} from "@petstore/service/contract";
import { it } from "node:test";
import { myStorage } from "./mine.ts";

const open = async () => myStorage();
petStorageContract({ it, open });
idempotencyContract({ it, open });
