// Run it with `node node_http.ts`.
import { createServer } from "node:http";
import { toNodeListener } from "@petstore/service/node";
import { apiKeys, createHandler, memoryStorage } from "@petstore/service";

const keys = apiKeys(["secret"]);
const handle = createHandler({ storage: memoryStorage(), keys });
const petStore = toNodeListener(handle);

createServer((request, response) => {
  if (request.url?.startsWith("/v1/")) return petStore(request, response);
  response.end("the rest of the application");
}).listen(8000, "127.0.0.1");
