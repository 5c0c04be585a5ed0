import assert from "node:assert/strict";
import test from "node:test";
import { readText } from "../support/repository.ts";

/** The names that an entry exports, types too. */
function exported(path: string): readonly string[] {
  const lists = readText(path).matchAll(/^export (type )?\{([^}]*)\}/gm);
  return [...lists].flatMap(([, , list = ""]) =>
    list.match(/\w+(?=,|\s*$)/g) ?? []
  );
}

test("mod.ts and the entry of storages share only pets, their storage and its error", () => {
  const names = new Set(exported("mod.ts"));
  assert.deepEqual(
    exported("core/storage.ts").filter((name) => names.has(name)),
    ["Pet", "PetId", "PetStatus", "petToJson", "PetStorage", "StorageError"],
  );
});
