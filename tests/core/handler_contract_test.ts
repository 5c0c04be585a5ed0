/** The HTTP contract, judged on `handle` itself: no server, no socket. */
import { test } from "node:test";
import { handleService } from "../support/handle_service.ts";
import { httpContract } from "../contract/register.ts";

httpContract(
  (title, check) => test(`handle: ${title}`, check),
  () => Promise.resolve(handleService()),
);
