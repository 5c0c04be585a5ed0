// Run it with `node --test storage_contract.ts`.
import { memoryStorage } from "@petstore/service";
import { storageContract } from "@petstore/service/contract";
import { retentionContract } from "@petstore/service/contract";
import { sqliteStorage } from "@petstore/service/sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { after, describe, it } from "node:test";

describe("my storage", () => {
  const open = async (options = {}) => memoryStorage(options);
  storageContract({ it, open });
  retentionContract({ it, open });
});

describe("my storage on a disk", () => {
  const directory = mkdtempSync("pets-");
  after(() => rmSync(directory, { recursive: true }));
  let files = 0;

  async function newPlace() {
    const path = `${directory}/${++files}.db`;
    return (options = {}) => sqliteStorage(path, options);
  }

  const open = async (options = {}) => (await newPlace())(options);
  storageContract({ it, open, newPlace });
  retentionContract({ it, open });
});
