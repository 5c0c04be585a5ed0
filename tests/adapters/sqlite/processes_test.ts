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
  const path = join(directory, "shared.db");
  const processes = Array.from({ length: 4 }, () => startStorage());
  await Promise.all(processes.map((process) => ask(process, `open ${path}`)));
  const each = 800;
  let finished = 0;
  const answers = await Promise.all(processes.map(async (process) => {
    process.send(`create ${each} 8`);
    const answers = await process.answersUntil("done");
    return { answers, place: ++finished };
  }));
  await Promise.all(processes.map((process) => process.end()));

  const ids = answers.flatMap(({ answers }) => [...created(answers).keys()]);
  assert.equal(ids.length, 4 * each);
  assert.equal(new Set(ids).size, 4 * each);
  // Of the first half of all ids every process has its part: none starves.
  const shares = answers.map(({ answers }) =>
    [...created(answers).keys()].filter((id) => id <= 2 * each).length
  );
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
