/** The HTTP contract with animals and keys in an SQLite file. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteStorage } from "../../../adapters/sqlite/mod.ts";
import { issuedKeys } from "../../../core/keys/issued_keys.ts";
import { handleService } from "../../contract/handle_service.ts";
import { httpContract } from "../../contract/register.ts";

httpContract("handle on sqliteStorage", async () => {
  const folder = mkdtempSync(join(tmpdir(), "petstore-"));
  const storage = await sqliteStorage(join(folder, "pets.db"));
  const keys = issuedKeys(storage.apiKeys);
  const { key } = await keys.issue("the contract");
  return {
    ...handleService({ storage, keys }),
    key,
    async close() {
      await storage.close();
      rmSync(folder, { recursive: true });
    },
  };
});
