/** Opens the database in its argument with several connections, and closes it when told to. */

import process from "node:process";
import { postgresStorage } from "../../../../adapters/storage/postgres/mod.ts";

const storage = await postgresStorage(process.argv[2] ?? "", {
  connectTimeout: 1500,
  queryTimeout: 1500,
});
await Promise.all(Array.from({ length: 6 }, () => storage.ping()));
process.stdout.write("ready\n");
await new Promise((resolve) => process.stdin.once("data", resolve));
process.stdin.destroy();
// One connection is given up while it waits, and others when they are taken afterwards.
await storage.ping().catch(() => {});
await storage.ping().catch(() => {});
await storage.close();
