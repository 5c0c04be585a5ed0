// Run it with `node express.ts`, after `npm install express`.
import express from "express";
import { toNodeListener } from "@petstore/service/node";
import { apiKeys, createHandler, memoryStorage } from "@petstore/service";

const keys = apiKeys(["secret"]);
const handle = createHandler({ storage: memoryStorage(), keys });
const petStore = toNodeListener(handle);

const app = express();
// Before any body parser: the pet store reads the body itself.
app.use("/v1", petStore);
app.listen(8000, "127.0.0.1");
