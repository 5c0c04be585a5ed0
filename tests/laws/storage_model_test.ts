/**
 * Law: all storages, the client of a service, and a plain `Map` give the same answers to the same commands, closed
 * and opened between.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Client,
  createClient,
  type PetStoreError,
} from "../../adapters/client/mod.ts";
import { d1Storage } from "../../adapters/storage/d1/mod.ts";
import { memoryStorage } from "../../adapters/storage/memory/mod.ts";
import { postgresStorage } from "../../adapters/storage/postgres/mod.ts";
import { sqliteStorage } from "../../adapters/storage/sqlite/mod.ts";
import { idempotencyDigest } from "../../core/pets/idempotency_key.ts";
import { INT64_MAX, INT64_MIN } from "../../core/int64.ts";
import {
  type CheckedPet,
  type Pet,
  PET_STATUSES,
  petId,
} from "../../core/pets/pet.ts";
import type { PageRequest } from "../../core/pets/page.ts";
import type { PetStorage } from "../../core/pets/pet_storage.ts";
import { imitation } from "../adapters/storage/d1/imitation.ts";
import { handleService } from "../support/handle_service.ts";
import { temporaryFiles } from "../support/temporary_directory.ts";
import { PATIENT, sharedPostgres } from "../support/postgres/shared.ts";
import { runSql } from "../support/postgres/sql.ts";
import { anyNewPet, fc, patience, runs } from "../support/property.ts";

/** All pets by id. */
class Model extends Map<bigint, Pet> {
  /** Pets that were added with an idempotency key, by key. */
  readonly byKey = new Map<string, Pet>();
}

/** A pet to create, and its idempotency key. */
interface Sent {
  readonly pet: CheckedPet;
  readonly key: string | undefined;
}

/** A storage, or a client that is used like one. */
interface Store extends Pick<PetStorage, "create" | "get" | "list" | "close"> {
  /** Follows the pages of a client. */
  readonly pets?: Client["pets"];
}

/** A storage that can be closed and opened again. */
interface Real {
  storage: Store;
  readonly reopen: () => Promise<void>;
}

type Command = fc.AsyncCommand<Model, readonly Real[]>;

const newPath = temporaryFiles();
const { skip, emptyDatabase } = await sharedPostgres();

/** A command for every storage, whose answer is compared with the model's. */
function command(
  text: string,
  answer: (model: Model) => unknown,
  ask: (real: Real) => Promise<unknown>,
): Command {
  return {
    toString: () => text,
    check: () => true,
    async run(model, reals) {
      const expected = answer(model);
      for (const real of reals) assert.deepEqual(await ask(real), expected);
    },
  };
}

function create(sent: readonly Sent[]): Command {
  return command(
    `create(${fc.stringify(sent)})`,
    (model) => sent.map((one) => keep(model, one)),
    ({ storage }) =>
      Promise.all(
        sent.map(({ pet, key }) =>
          storage.create(pet, key === undefined ? {} : { idempotencyKey: key })
        ),
      ),
  );
}

/** Reads that arrive together, which databases send together. */
function get(ids: readonly bigint[]): Command {
  return command(
    `get(${ids})`,
    (model) => ids.map((id) => model.get(id)),
    ({ storage }) => Promise.all(ids.map((id) => storage.get(petId(id)))),
  );
}

function list(queries: readonly PageRequest[]): Command {
  return command(
    `list(${fc.stringify(queries)})`,
    (model) =>
      queries.map((query) => {
        const matching = matchingIn(model, query);
        const pets = matching.slice(0, query.limit);
        const hasMore = matching.length > query.limit;
        return { pets, last: hasMore ? pets.at(-1)?.id : undefined };
      }),
    ({ storage }) =>
      Promise.all(queries.map(async (query) => {
        const { pets, last } = await storage.list(query);
        // Empties the page, which is the caller's own.
        return { pets: (pets as Pet[]).splice(0), last };
      })),
  );
}

function walk(query: PageRequest): Command {
  return command(
    `walk(${fc.stringify(query)})`,
    (model) => matchingIn(model, query),
    async ({ storage }) => {
      if (storage.pets) return await Array.fromAsync(storage.pets(query));
      const pets: Pet[] = [];
      for (let after = query.after, isLast = false; !isLast;) {
        const from = after === undefined ? query : { ...query, after };
        const page = await storage.list(from);
        pets.push(...page.pets);
        isLast = page.last === undefined;
        after = page.last;
      }
      return pets;
    },
  );
}

function matchingIn(
  model: Model,
  { status, after = INT64_MIN }: PageRequest,
): readonly Pet[] {
  return [...model.values()].filter((pet) =>
    pet.id > after && pet.status === (status ?? pet.status)
  );
}

const reopen = command("reopen()", () => undefined, (real) => real.reopen());

function keep(
  model: Model,
  { pet: newPet, key }: Sent,
): Pet & { readonly replayed?: true } {
  const earlier = key === undefined ? undefined : model.byKey.get(key);
  if (earlier !== undefined) return { ...earlier, replayed: true };
  const id = petId(BigInt(model.size + 1));
  const pet = { id, ...newPet };
  model.set(id, pet);
  if (key !== undefined) model.byKey.set(key, pet);
  return pet;
}

/** What arrives together; the last twice, because equal reads share a place. */
const several = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<readonly T[]> =>
  fc.array(one, { minLength: 1, maxLength: 8 })
    .map((all) => [...all, ...all.slice(-1)]);

/** Few keys, so that they are repeated, in one batch and across batches. */
const anySent = several<Sent>(fc.record({
  pet: anyNewPet,
  key: fc.option(
    fc.nat({ max: 12 }).map((key) => `${key}`.padStart(64, "0")),
    { nil: undefined },
  ),
}));

const anyPage: fc.Arbitrary<PageRequest> = fc.record({
  limit: fc.oneof(
    fc.integer({ min: 1, max: 5 }),
    fc.integer({ min: 1, max: 100 }),
  ),
  status: fc.constantFrom(...PET_STATUSES),
  after: fc.oneof(
    { weight: 4, arbitrary: fc.bigInt({ min: -1n, max: 60n }) },
    fc.bigInt({ min: INT64_MIN, max: INT64_MAX }),
  ),
}, { requiredKeys: ["limit"], noNullPrototype: true });

const anyCommand: readonly fc.Arbitrary<Command>[] = [
  anySent.map(create),
  anySent.map(create),
  several(fc.oneof(
    { weight: 4, arbitrary: fc.bigInt({ min: 1n, max: 60n }) },
    fc.bigInt({ min: 1n, max: INT64_MAX }),
  )).map(get),
  several(anyPage).map(list),
  anyPage.map(walk),
  fc.constant(reopen),
];

/** Empties a storage, and returns a function that opens it. */
type Place = () => Promise<() => Promise<Store>>;

const memory: Place = async () => {
  // Pets in memory do not outlive their storage.
  const storage = { ...memoryStorage(), close: async () => {} };
  return async () => storage;
};

const sqlite: Place = async () => {
  const path = newPath();
  return () => sqliteStorage(path);
};

const d1: Place = async () => {
  const binding = imitation();
  return async () => d1Storage(binding);
};

const client: Place = async () => {
  const storage = memoryStorage();
  return async () => storeOf(storage);
};

/** The client of a service with a storage, used like a storage. */
function storeOf(storage: PetStorage): Store {
  const { fetch, base: baseUrl, key } = handleService({ storage });
  const client = createClient({ baseUrl, key, fetch });
  let lastCreate: Promise<unknown> = Promise.resolve();

  async function create(pet: CheckedPet, idempotencyKey?: string) {
    let replayed: { readonly replayed?: true } = {};
    const creating = createClient({
      baseUrl,
      key,
      async fetch(request) {
        const sent = new Request(request);
        if (idempotencyKey !== undefined) {
          sent.headers.set("idempotency-key", idempotencyKey);
        }
        const response = await fetch(sent);
        if (response.headers.has("idempotent-replayed")) {
          replayed = { replayed: true };
        }
        return response;
      },
    });
    try {
      return { ...await creating.createPet(pet), ...replayed };
    } catch (error) {
      const { code } = error as PetStoreError;
      if (code !== "idempotency_key_reused") throw error;
      // Only the storage tells which other pet has the key.
      const other = await storage.create(pet, {
        idempotencyKey: await idempotencyDigest(key, idempotencyKey ?? ""),
      });
      assert.notDeepEqual(other, { ...pet, id: other.id, replayed: true });
      return other;
    }
  }

  return {
    // One after another, because they might overtake each other on the way to the storage.
    create(pet, { idempotencyKey } = {}) {
      const created = lastCreate.then(() => create(pet, idempotencyKey));
      lastCreate = created;
      return created;
    },
    async get(id) {
      try {
        return await client.getPet(id);
      } catch (error) {
        if ((error as PetStoreError).code !== "not_found") throw error;
        return undefined;
      }
    },
    async list(query) {
      const { pets, next } = await client.listPets(query);
      const after = next?.after;
      return after === undefined ? { pets } : { pets, last: petId(after) };
    },
    pets: client.pets,
    close: async () => {},
  };
}

let database: Promise<string> | undefined;

// One database with its tables for all runs, because making tables takes longer than a run.
const postgres: Place = async () => {
  const url = await (database ??= databaseWithTables());
  await runSql(url, "truncate pets, idempotency_keys restart identity");
  return () => postgresStorage(url, PATIENT);
};

async function databaseWithTables(): Promise<string> {
  const url = await emptyDatabase();
  await (await postgresStorage(url, PATIENT)).close();
  return url;
}

async function openReal(place: Place): Promise<Real> {
  const open = await place();
  const real: Real = {
    storage: await open(),
    async reopen() {
      await real.storage.close();
      real.storage = await open();
    },
  };
  return real;
}

function assertAlike(
  places: readonly Place[],
  most = Infinity,
): Promise<void> {
  return fc.assert(
    fc.asyncProperty(
      fc.commands([...anyCommand], { maxCommands: 40, size: "max" }),
      async (commands) => {
        const reals = await Promise.all(places.map(openReal));
        try {
          await fc.asyncModelRun(
            () => ({ model: new Model(), real: reals }),
            commands,
          );
        } finally {
          for (const { storage } of reals) await storage.close();
        }
      },
    ),
    { numRuns: Math.min(runs(40).numRuns, most) },
  );
}

test(
  "memory, SQLite, D1 and client answer every sequence of commands alike",
  { timeout: patience(40) },
  () => assertAlike([memory, sqlite, d1, client]),
);

test(
  "memory and PostgreSQL answer every sequence of commands alike",
  { skip, timeout: patience(40) },
  () => assertAlike([memory, postgres], 2000), // each takes a tenth of a second
);
