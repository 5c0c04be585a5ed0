import { sqliteStorage } from "../../adapters/sqlite/mod.ts";
import { apiKeys, createHandler } from "../../mod.ts";

const storage = await sqliteStorage("pets.db");
const handle = createHandler({ storage, keys: apiKeys(["secret"]) });
export default { port: 8000, fetch: (request: Request) => handle(request) };
