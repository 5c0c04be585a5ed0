import assert from "node:assert/strict";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { sqliteStorage } from "../../../../adapters/storage/sqlite/mod.ts";
import { atEnd } from "../../../support/at_end.ts";
import { temporaryDirectory } from "../../../support/temporary_directory.ts";
import { startStorage, type StorageProcess } from "../../../support/process.ts";

const directory = temporaryDirectory();

/** The number of pets that each of several processes creates. */
const EACH = 800;

test("sqliteStorage shares a file among processes fairly", async (t) => {
  const processes = startFour(t);
  const runs: (readonly number[])[] = [];
  const fairest = () => Math.max(...runs.map((shares) => Math.min(...shares)));
  // The system may keep one process waiting for a while, but not three times: the fairest run counts.
  while (runs.length < 3 && fairest() <= EACH / 20) {
    const path = join(directory, `shared-${runs.length}.db`);
    runs.push(await share(path, processes));
  }
  const got = runs.map((shares) => shares.join(", ")).join("; ");
  assert.ok(
    fairest() > EACH / 20,
    `fair is ${EACH / 2} of the first ids for each process; they got ${got}`,
  );
});

test("sqliteStorage opens when many processes open nothing at once", async (t) => {
  const processes = startFour(t);
  for (let round = 0; round < 12; round++) {
    const path = join(directory, `opened-${round}.db`);
    const answers = await Promise.all(
      processes.map((process) => process.tell(`open-many ${path} 5`)),
    );
    assert.deepEqual(answers, Array.from(processes, () => ["opened"]));
    const storage = await sqliteStorage(path);
    assert.equal((await storage.list({ limit: 100 })).pets.length, 20);
    await storage.close();
  }
});

/** Starts four processes, which end with the test. */
function startFour(t: TestContext): readonly StorageProcess[] {
  const processes = Array.from({ length: 4 }, () => startStorage());
  atEnd(t, () => Promise.all(processes.map((process) => process.end())));
  return processes;
}

/** Makes each process create this many pets; resolves to how many of the first half each has. */
async function share(
  path: string,
  processes: readonly StorageProcess[],
): Promise<readonly number[]> {
  await Promise.all(processes.map((process) => process.tell(`open ${path}`)));
  const given = await Promise.all(processes.map(async (process) => {
    const answers = await process.tell(`create ${EACH} 8`);
    return answers.map((answer) => {
      const [verb, id] = answer.split(" ");
      assert.equal(verb, "created", answer);
      return Number(id);
    });
  }));
  const all = processes.length * EACH;
  assert.equal(new Set(given.flat()).size, all);
  return given.map((ids) => ids.filter((id) => id <= all / 2).length);
}
