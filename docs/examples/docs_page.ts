import { docs } from "../../adapters/docs/mod.ts";
import { apiKeys, createHandler, memoryStorage } from "../../mod.ts";

const keys = apiKeys(["secret"]);
const handle = createHandler({ storage: memoryStorage(), keys });
const showDocs = await docs({ path: "/docs", openApiUrl: "/v1/openapi.json" });
Deno.serve(
  { port: 8000, hostname: "127.0.0.1" },
  async (request) => await showDocs(request) ?? handle(request),
);
