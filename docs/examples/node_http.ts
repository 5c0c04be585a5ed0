import { createServer } from "node:http";
import { toNodeListener } from "../../adapters/node/mod.ts";
import { apiKeys, createHandler, memoryStorage } from "../../mod.ts";

const keys = apiKeys(["secret"]);
const handle = createHandler({ storage: memoryStorage(), keys });
const petStore = toNodeListener(handle);

createServer((request, response) => {
  if (request.url?.startsWith("/v1/")) return petStore(request, response);
  response.end("the rest of the application");
}).listen(8000, "127.0.0.1");
