/** Law: whatever keeps the animals, the same requests get the same responses, to the last byte. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryStorage } from "../../adapters/memory/mod.ts";
import { postgresStorage } from "../../adapters/postgres/mod.ts";
import { sqliteStorage } from "../../adapters/sqlite/mod.ts";
import type { PetStorage } from "../../core/pets/pet_storage.ts";
import { temporaryFiles } from "../support/temporary_directory.ts";
import { ask, type OpenService } from "../contract/ask.ts";
import { handleService } from "../contract/handle_service.ts";
import { anyNewPet } from "../support/any_pet.ts";
import { sharedPostgres } from "../support/postgres/shared.ts";
import { runSql } from "../support/postgres/sql.ts";
import { documentOf } from "./openapi_document.ts";
import { anyRequest, type Generated } from "./openapi_request.ts";
import { fc, patience, runs } from "../support/property.ts";

const RUNS = 100;
const newPath = temporaryFiles();
const { skip, newDatabase } = await sharedPostgres();

type Sent = Pick<Generated, "method" | "address" | "question">;

const create: fc.Arbitrary<Sent> = anyNewPet.map((
  { name, categoryId, status },
) => ({
  method: "POST",
  address: "/pets",
  question: {
    body: `{"name":${
      JSON.stringify(name)
    },"categoryId":${categoryId},"status":"${status}"}`,
  },
}));
const list: fc.Arbitrary<Sent> = fc.record({
  limit: fc.integer({ min: 1, max: 100 }),
  after: fc.integer({ min: 0, max: 60 }),
  status: fc.constantFrom("", "&status=available", "&status=sold"),
}).map(({ limit, after, status }) => ({
  method: "GET",
  address: `/pets?limit=${limit}&after=${after}${status}`,
  question: {},
}));
// Those that make the storage fail are no matter of which one it is.
const other: fc.Arbitrary<Sent> = anyRequest(documentOf(), '"x"').filter((
  { condition, question },
) => condition === "sound" && !(question.body instanceof ReadableStream));

const anyRequests = fc.array(
  fc.oneof({ weight: 3, arbitrary: create }, list, other),
  { maxLength: 60, size: "max" },
);

/** The responses of a service on an empty storage, each as text. */
async function answers(
  storage: PetStorage,
  requests: readonly Sent[],
): Promise<readonly string[]> {
  const service = handleService({ storage });
  const all: string[] = [];
  for (const request of requests) all.push(await one(service, request));
  return all;
}

async function one(
  service: OpenService,
  { method, address, question }: Sent,
): Promise<string> {
  const { status, headers, text } = await ask(
    service,
    method,
    address,
    question,
  );
  return [status, ...headers, text].join("\n");
}

function assertAlike(
  name: string,
  emptied: () => Promise<PetStorage>,
): Promise<void> {
  let count = 0;
  return fc.assert(
    fc.asyncProperty(anyRequests, async (requests) => {
      const storage = await emptied();
      try {
        const expected = await answers(memoryStorage(), requests);
        assert.deepEqual(await answers(storage, requests), expected);
        count += expected.length;
      } finally {
        await storage.close();
      }
    }),
    runs(RUNS),
  ).then(() => console.log(`${count} responses of ${name} are memory's own`));
}

test(
  "sqliteStorage gives the responses of memoryStorage, byte for byte",
  { timeout: patience(RUNS) },
  async () => {
    await assertAlike(
      "sqliteStorage",
      () => sqliteStorage(newPath()),
    );
  },
);

test(
  "postgresStorage gives the responses of memoryStorage, byte for byte",
  { skip, timeout: patience(RUNS) },
  async () => {
    const url = await newDatabase();
    await (await postgresStorage(url)).close();
    await assertAlike("postgresStorage", async () => {
      await runSql(url, "truncate pets, idempotency_keys restart identity");
      return await postgresStorage(url);
    });
  },
);
