/**
 * Law: memory, SQLite, PostgreSQL and a plain `Map` give the same answers to the same commands,
 * whatever the commands are and however often the database is closed and opened between them.
 *
 * @module
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { memoryStorage } from "../../adapters/memory/mod.ts";
import { postgresStorage } from "../../adapters/postgres/mod.ts";
import { sqliteStorage } from "../../adapters/sqlite/mod.ts";
import { INT64_MAX, INT64_MIN } from "../../core/pets/int64.ts";
import {
  type CheckedPet,
  type Pet,
  PET_STATUSES,
  petId,
} from "../../core/pets/pet.ts";
import type { PetQuery, PetStorage } from "../../core/pets/pet_storage.ts";
import { temporaryDirectory } from "../support/temporary_directory.ts";
import { anyNewPet } from "../contract/pet_storage_contract.ts";
import { sharedPostgres } from "../support/postgres/shared.ts";
import { runSql } from "../support/postgres/sql.ts";

type Model = Map<bigint, Pet>;

/** A storage, and how it is closed and opened again where it outlives that. */
interface Real {
  storage: PetStorage;
  readonly reopen: () => Promise<PetStorage>;
}

type Command = fc.AsyncCommand<Model, readonly Real[]>;

const directory = temporaryDirectory();
const { skip, newDatabase } = await sharedPostgres();
let files = 0;

/** A command that asks every storage and compares its answer with the model's. */
function command(
  text: string,
  answer: (model: Model) => unknown,
  ask: (storage: PetStorage) => Promise<unknown>,
): Command {
  return {
    toString: () => text,
    check: () => true,
    async run(model, reals) {
      const expected = answer(model);
      for (const { storage } of reals) {
        assert.deepEqual(await ask(storage), expected);
      }
    },
  };
}

function create(pets: readonly CheckedPet[]): Command {
  return command(
    `create(${fc.stringify(pets)})`,
    (model) => pets.map((pet) => keep(model, pet)),
    (storage) => Promise.all(pets.map((pet) => storage.create(pet))),
  );
}

function get(id: bigint): Command {
  return command(
    `get(${id})`,
    (model) => model.get(id),
    (storage) => storage.get(petId(id)),
  );
}

function list(query: PetQuery): Command {
  return command(
    `list(${fc.stringify(query)})`,
    (model) => {
      const { limit, status, after = INT64_MIN } = query;
      const matching = [...model.values()]
        .filter((pet) => pet.id > after)
        .filter((pet) => status === undefined || pet.status === status);
      const pets = matching.slice(0, limit);
      const hasMore = matching.length > limit;
      return { pets, last: hasMore ? pets.at(-1)?.id : undefined };
    },
    async (storage) => {
      const { pets, last } = await storage.list(query);
      return { pets, last };
    },
  );
}

function reopen(): Command {
  return {
    toString: () => "reopen()",
    check: () => true,
    async run(_model, reals) {
      for (const real of reals) real.storage = await real.reopen();
    },
  };
}

function keep(model: Model, newPet: CheckedPet): Pet {
  const id = petId(BigInt(model.size + 1));
  const pet = { id, ...newPet };
  model.set(id, pet);
  return pet;
}

const anyCommand: readonly fc.Arbitrary<Command>[] = [
  fc.array(anyNewPet, { minLength: 1, maxLength: 8 }).map(create),
  fc.array(anyNewPet, { minLength: 1, maxLength: 8 }).map(create),
  fc.oneof(
    { weight: 4, arbitrary: fc.bigInt({ min: 1n, max: 60n }) },
    fc.bigInt({ min: 1n, max: INT64_MAX }),
  ).map(get),
  fc.record({
    limit: fc.integer({ min: 1, max: 100 }),
    status: fc.constantFrom(...PET_STATUSES),
    after: fc.oneof(
      { weight: 4, arbitrary: fc.bigInt({ min: -1n, max: 60n }) },
      fc.bigInt({ min: INT64_MIN, max: INT64_MAX }),
    ),
  }, { requiredKeys: ["limit"], noNullPrototype: true }).map(list),
  fc.constant(reopen()),
];

/** How a storage is made empty and opened, and how it is opened again as it is. */
type Place = () => Promise<{
  readonly open: () => Promise<PetStorage>;
}>;

const memory: Place = () => {
  // What is in memory does not outlive its storage.
  const storage = memoryStorage();
  const open = () => Promise.resolve({ ...storage, close: async () => {} });
  return Promise.resolve({ open });
};

const sqlite: Place = () => {
  const path = join(directory, `${++files}.db`);
  return Promise.resolve({ open: () => sqliteStorage(path) });
};

const postgres: Place = async () => {
  const url = await database();
  await runSql(url, "truncate pets restart identity");
  return { open: () => postgresStorage(url) };
};

let made: Promise<string> | undefined;

/** One database for all runs: to make one takes longer than a run. */
function database(): Promise<string> {
  return made ??= (async () => {
    const url = await newDatabase();
    await (await postgresStorage(url)).close();
    return url;
  })();
}

async function open(place: Place): Promise<Real> {
  const { open } = await place();
  const real: Real = {
    storage: await open(),
    async reopen() {
      await real.storage.close();
      return await open();
    },
  };
  return real;
}

function assertAlike(places: readonly Place[]): Promise<void> {
  return fc.assert(
    fc.asyncProperty(
      fc.commands([...anyCommand], { maxCommands: 40 }),
      async (commands) => {
        const reals = await Promise.all(places.map(open));
        try {
          await fc.asyncModelRun(
            () => ({ model: new Map(), real: reals }),
            commands,
          );
        } finally {
          for (const { storage } of reals) await storage.close();
        }
      },
    ),
    { numRuns: 60 },
  );
}

test(
  "memoryStorage and sqliteStorage answer every sequence of commands alike",
  { timeout: 60_000 },
  () => assertAlike([memory, sqlite]),
);

test(
  "memoryStorage, sqliteStorage and postgresStorage answer every sequence of commands alike",
  { skip, timeout: 60_000 },
  () => assertAlike([memory, sqlite, postgres]),
);
