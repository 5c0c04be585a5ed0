import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { sqliteStorage } from "../../../adapters/sqlite/mod.ts";
import { petId } from "../../../core/pets/pet.ts";
import {
  startStorage,
  type StorageProcess,
} from "../../support/programs/storage_process.ts";
import { temporaryDirectory } from "../../support/temporary_directory.ts";

const directory = temporaryDirectory();

/** The number of pets that each of several processes creates. */
const EACH = 800;

/** Names of the pets that a process has acknowledged, by id. */
type Acknowledged = Map<bigint, string>;

test("sqliteStorage keeps every acknowledged pet when its process is killed", async () => {
  const path = join(directory, "killed.db");
  const kept: Acknowledged = new Map();
  for (let round = 0; round < 6; round++) {
    const acknowledged = await createAndKill(path, 150 + 97 * round);
    assert.ok(acknowledged.size > 100);
    const greatest = maximum([...kept.keys()]);
    for (const [id, name] of acknowledged) {
      assert.ok(id > greatest, `id ${id} was given after ${greatest}`);
      kept.set(id, name);
    }
    await assertStored(path, kept);
  }
  console.log(`6 kills, ${kept.size} acknowledged, 0 lost`);
  assert.deepEqual(integrityOf(path), ["ok"]);
});

test("sqliteStorage shares a file among processes fairly", async () => {
  const processes = Array.from({ length: 4 }, () => startStorage());
  let least = 0;
  try {
    // The system may keep one process waiting for a while, but not three times: the fairest run counts.
    for (let run = 0; run < 3 && least <= EACH / 20; run++) {
      const shares = await share(
        join(directory, `shared-${run}.db`),
        processes,
      );
      least = Math.max(least, Math.min(...shares));
      console.log(`of the first ids the processes got ${shares}`);
    }
  } finally {
    await Promise.all(processes.map((process) => process.end()));
  }
  assert.ok(least > EACH / 20, `${least} of the ${EACH / 2} that are fair`);
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

/** Lets all processes create so many pets each; resolves to the number that each has of the first half. */
async function share(
  path: string,
  processes: readonly StorageProcess[],
): Promise<readonly number[]> {
  await Promise.all(processes.map((process) => ask(process, `open ${path}`)));
  const answers = await Promise.all(processes.map((process) => {
    process.send(`create ${EACH} 8`);
    return process.answersUntil("done");
  }));
  const given = answers.map((answers) => [...created(answers).keys()]);
  const all = processes.length * EACH;
  assert.equal(new Set(given.flat()).size, all);
  return given.map((ids) => ids.filter((id) => id <= all / 2).length);
}

/** Kills a process once it has acknowledged so many, and returns all that it acknowledged. */
async function createAndKill(
  path: string,
  count: number,
): Promise<Acknowledged> {
  const process = startStorage();
  await ask(process, `open ${path}`);
  process.send("create Infinity 16");
  const answers: string[] = [];
  while (answers.length < count) {
    answers.push(...await process.answersUntil("created"));
  }
  return created([...answers, ...await process.kill()]);
}

async function ask(
  process: StorageProcess,
  command: string,
): Promise<readonly string[]> {
  process.send(command);
  return await process.answersUntil("");
}

/** Reads answers to `create`; any other answer fails the test. */
function created(answers: readonly string[]): Acknowledged {
  const pets: Acknowledged = new Map();
  for (const answer of answers.filter((answer) => answer !== "done")) {
    const [verb, id = "", name = ""] = answer.split(" ");
    assert.equal(verb, "created", answer);
    pets.set(BigInt(id), name);
  }
  return pets;
}

async function assertStored(path: string, pets: Acknowledged): Promise<void> {
  const storage = await sqliteStorage(path);
  for (const [id, name] of pets) {
    assert.equal((await storage.get(petId(id)))?.name, name);
  }
  await storage.close();
}

function integrityOf(path: string): readonly unknown[] {
  const db = new DatabaseSync(path);
  const rows = db.prepare("PRAGMA integrity_check").all();
  db.close();
  return rows.map((row) => row.integrity_check);
}

function maximum(ids: readonly bigint[]): bigint {
  return ids.reduce((greatest, id) => id > greatest ? id : greatest, 0n);
}
