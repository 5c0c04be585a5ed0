// Run it with `deno run -A docs_page.ts`, after `npm install --ignore-scripts swagger-ui-dist`.
import { docs } from "@petstore/service/docs";
import { apiKeys, createHandler, memoryStorage } from "@petstore/service";

const keys = apiKeys(["secret"]);
const handle = createHandler({ storage: memoryStorage(), keys });
const showDocs = await docs({ path: "/docs", openApiUrl: "/v1/openapi.json" });
Deno.serve(
  { port: 8000, hostname: "127.0.0.1" },
  async (request) => await showDocs(request) ?? handle(request),
);
