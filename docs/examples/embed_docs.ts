import { docs } from "../../adapters/docs/mod.ts";
import { apiKeys, createHandler, memoryStorage } from "../../mod.ts";

const handle = createHandler({
  storage: memoryStorage(),
  keys: apiKeys(["secret"]),
});
const showDocs = await docs({ path: "/docs", openApiUrl: "/v1/openapi.json" });
Deno.serve(
  { port: 8000 },
  async (request) => await showDocs(request) ?? handle(request),
);
