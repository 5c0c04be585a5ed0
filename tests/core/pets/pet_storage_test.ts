import assert from "node:assert/strict";
import test from "node:test";
import { StorageError } from "../../../core/pets/pet_storage.ts";

test("StorageError keeps retryAfter as whole seconds from 1 to 60, by default 1", () => {
  const seconds = [NaN, -1, 0, 0.2, 1, 1.2, 59.5, 60, 61, Infinity];
  const kept = seconds.map((retryAfter) =>
    new StorageError("unavailable", "away", { retryAfter }).retryAfter
  );
  assert.deepEqual(kept, [1, 1, 1, 1, 1, 2, 60, 60, 60, 60]);
  const error = new StorageError("unavailable", "away");
  assert.equal(error.retryAfter, 1);
  assert.equal(`${error}`, "StorageError: away");
});
