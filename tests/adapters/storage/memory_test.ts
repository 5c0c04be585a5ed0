import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { memoryStorage } from "../../../adapters/storage/memory.ts";
import { apiKeyStorageContract } from "../../contract/api_key_storage_contract.ts";
import { petStorageContract } from "../../contract/pet_storage_contract.ts";

petStorageContract("memoryStorage", () => Promise.resolve(memoryStorage()));
apiKeyStorageContract("memoryStorage", () => Promise.resolve(memoryStorage()));

test("memoryStorage freezes its animals", async () => {
  const storage = memoryStorage();
  const pet = await storage.create({
    name: "Rex",
    categoryId: 1n,
    status: "sold",
  });
  assert.ok(Object.isFrozen(pet));
});

test("memoryStorage imports nothing but the core, so that it runs in a browser", () => {
  const start = new URL("../../../adapters/storage/memory.ts", import.meta.url);
  const imported = [...importsOf(start)];
  assert.ok(imported.length > 5);
  for (const specifier of imported) {
    assert.match(specifier, /\/(core|adapters\/storage)\/\w+\.ts$|^valibot$/);
  }
});

/** The addresses of all modules that a module needs, and the names of packages. */
function importsOf(module: URL, seen = new Set<string>()): Set<string> {
  const source = readFileSync(module, "utf8");
  for (
    const [, specifier = ""] of source.matchAll(/^[^ ].* from "([^"]+)";$/gm)
  ) {
    const isFile = specifier.startsWith(".");
    const found = isFile ? new URL(specifier, module) : undefined;
    const name = found?.href ?? specifier;
    if (seen.has(name)) continue;
    seen.add(name);
    if (found !== undefined) importsOf(found, seen);
  }
  return seen;
}
