// Run it with `node srvx.ts`, after `npm install srvx`. On Node, srvx serves any fetch function.
import { serve } from "srvx";
import { apiKeys, createHandler, memoryStorage } from "@petstore/service";

const keys = apiKeys(["secret"]);
const handle = createHandler({ storage: memoryStorage(), keys });

async function fetch(request: Request): Promise<Response> {
  const response = await handle(request);
  console.log(`${request.method} ${request.url}: ${response.status}`);
  return response;
}

serve({ fetch, port: 8000, hostname: "127.0.0.1" });
