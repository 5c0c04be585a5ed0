import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { sqliteStorage } from "../../../adapters/sqlite/mod.ts";
import {
  startStorage,
  type StorageProcess,
} from "../../support/programs/storage_process.ts";
import { temporaryDirectory } from "../../support/temporary_directory.ts";

const directory = temporaryDirectory();

test("sqliteStorage shares a file among processes fairly", async () => {
  const path = join(directory, "shared.db");
  const processes = Array.from({ length: 4 }, () => startStorage());
  await Promise.all(processes.map((process) => ask(process, `open ${path}`)));
  const each = 800;
  const all = await Promise.all(processes.map(async (process) => {
    process.send(`create ${each} 8`);
    return createdIds(await process.answersUntil("done"));
  }));
  await Promise.all(processes.map((process) => process.end()));

  assert.equal(all.flat().length, 4 * each);
  assert.equal(new Set(all.flat()).size, 4 * each);
  // Of the first half of all ids every process has its part: none starves.
  const shares = all.map((ids) => ids.filter((id) => id <= 2 * each).length);
  console.log(`of the first ${2 * each} ids the four processes got ${shares}`);
  assert.ok(Math.min(...shares) > 2 * each / 4 / 10, `shares ${shares}`);
});

test("sqliteStorage opens when many processes open nothing at once", async () => {
  const processes = Array.from({ length: 4 }, () => startStorage());
  try {
    for (let round = 0; round < 12; round++) {
      const path = join(directory, `opened-${round}.db`);
      const answers = await Promise.all(
        processes.map((process) => ask(process, `open-many ${path} 5`)),
      );
      assert.deepEqual(answers, Array.from(processes, () => ["opened"]));
      const storage = await sqliteStorage(path);
      assert.equal((await storage.list({ limit: 100 })).pets.length, 20);
      await storage.close();
    }
  } finally {
    await Promise.all(processes.map((process) => process.end()));
  }
});

async function ask(
  process: StorageProcess,
  command: string,
): Promise<readonly string[]> {
  process.send(command);
  return await process.answersUntil("");
}

/** Reads the ids in answers to `create`; any other answer fails the test. */
function createdIds(answers: readonly string[]): readonly bigint[] {
  return answers.filter((answer) => answer !== "done").map((answer) => {
    const [verb, id = ""] = answer.split(" ");
    assert.equal(verb, "created", answer);
    return BigInt(id);
  });
}
