/** SQLite's result codes as faults; real ones are in `faults_test.ts` and `disk_test.ts`. */
import assert from "node:assert/strict";
import test from "node:test";
import {
  accessReason,
  isBusy,
  isFatal,
  mayHaveCommitted,
  storageFault,
} from "../../../../adapters/storage/sqlite/fault.ts";
import { StorageError } from "../../../../core/pets/pet_storage.ts";

function sqliteError(errcode: number): Error {
  return Object.assign(new Error("no"), { errcode });
}

const LOCKED = "another process keeps the file locked";
const FULL = "the disk is full";
for (
  const [code, reason, kinds] of [
    [3, "SQLite may not access the file", "uncertain"],
    [5, LOCKED, "busy"],
    [6, LOCKED, "busy"],
    [7, "memory ran out", "uncertain"],
    [
      8,
      "the file or its directory is read-only, for this user or for all",
      "uncertain access",
    ],
    [10, "reading or writing the disk failed", "uncertain fatal"],
    [10 + 4 * 256, "reading or writing the disk failed", "uncertain fatal"],
    [
      522,
      "the -wal was replaced or cut short while in use; restart the processes that use the file",
      "uncertain fatal",
    ],
    [11, "the file is damaged; restore it from a backup", "uncertain fatal"],
    [13, FULL, ""],
    [
      3850,
      "its file system has no locks, or the file is read-only for this user",
      "uncertain access fatal",
    ],
    [4874, FULL, "uncertain"],
    [778, `${FULL} or failing, or the file reached its size limit`, ""],
    [
      14,
      "the file, its -wal or its -shm cannot be opened; the -wal may have been emptied while programs use it, or the disk or the files may be read-only for this user",
      "uncertain access",
    ],
    [15, LOCKED, "busy"],
    [26, "the file is not an SQLite database", "uncertain fatal"],
  ] as const
) {
  test(`SQLite's code ${code} means: ${reason}`, () => {
    const error = sqliteError(code);
    const fault = storageFault("create pet", error);
    assert.ok(fault instanceof StorageError);
    assert.equal(fault.kind, "unavailable");
    assert.equal(fault.message, `Cannot create pet: ${reason}`);
    assert.equal(fault.cause, error);
    const found = [
      ...isBusy(error) ? ["busy"] : [],
      ...mayHaveCommitted(error) ? ["uncertain"] : [],
      ...accessReason("/no/such/pets.db", error) ? ["access"] : [],
      ...isFatal(error) ? ["fatal"] : [],
    ];
    assert.equal(found.join(" "), kinds);
  });
}

test("storageFault returns an unrelated error as it is, unless all is uncertain", () => {
  for (const error of [sqliteError(1), new Error("no"), "no"]) {
    assert.equal(storageFault("create pet", error), error);
    const fault = storageFault("create pet", error, "outcome_unknown");
    assert.ok(fault instanceof StorageError, `${error}`);
    assert.equal(fault.message, `Outcome unknown (create pet): ${error}`);
  }
});
