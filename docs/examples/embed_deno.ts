import { apiKeys, createHandler, memoryStorage } from "../../mod.ts";

const handle = createHandler({
  storage: memoryStorage(),
  keys: apiKeys(["secret"]),
});
Deno.serve({ port: 8000 }, handle);
