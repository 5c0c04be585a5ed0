// Run it with `bun bun.ts`. It keeps the pets in pets.db.
import { sqliteStorage } from "@petstore/service/sqlite";
import { apiKeys, createHandler } from "@petstore/service";

const storage = await sqliteStorage("pets.db");
const handle = createHandler({ storage, keys: apiKeys(["secret"]) });
export default {
  port: 8000,
  hostname: "127.0.0.1",
  fetch: (request: Request) => handle(request),
};
