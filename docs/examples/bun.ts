import { sqliteStorage } from "../../adapters/sqlite/mod.ts";
import { apiKeys, createHandler } from "../../mod.ts";

const storage = await sqliteStorage("pets.db");
const handle = createHandler({ storage, keys: apiKeys(["secret"]) });
export default {
  port: 8000,
  hostname: "127.0.0.1",
  fetch: (request: Request) => handle(request),
};
