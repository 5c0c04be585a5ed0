// Run it with `node docs_page.ts`, after `npm install --ignore-scripts swagger-ui-dist@5.35.0`.
import { docs } from "@petstore/service/docs";
import { serve } from "@petstore/service/node";
import { apiKeys, createHandler, memoryStorage } from "@petstore/service";

const handle = createHandler({
  storage: memoryStorage(),
  keys: apiKeys(["secret"]),
  endpoints: await docs({ path: "/docs", openApiUrl: "/v1/openapi.json" }),
});
await serve(handle, { port: 8000 });
