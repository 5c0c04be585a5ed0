import { memoryStorage } from "../../mod.ts";
import { storageContract } from "../../tests/contract/storage/mod.ts";
import { describe, it } from "node:test";

describe("my storage", () => {
  storageContract({ it, open: async () => memoryStorage() });
});
