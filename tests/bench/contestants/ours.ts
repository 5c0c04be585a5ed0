// Ours, mounted as its README says.
import { sqliteStorage } from "../../../adapters/sqlite/mod.ts";
import { apiKeys, createHandler, memoryStorage } from "../../../mod.ts";
import { DRIVER, HOST, KEYS, PORT, SQLITE_FILE } from "./settings.ts";

const maxBatch = DRIVER === "one transaction each" ? 1 : 256;
const storage = SQLITE_FILE === undefined
  ? memoryStorage()
  : await sqliteStorage(SQLITE_FILE, { maxBatch });
const handle = createHandler({ storage, keys: apiKeys([...KEYS]) });

const { serve } = "Deno" in globalThis
  ? await import("../../../adapters/deno/mod.ts")
  : "Bun" in globalThis
  ? await import("../../../adapters/bun/mod.ts")
  : await import("../../../adapters/node/mod.ts");
await serve(handle, { port: PORT, hostname: HOST });
