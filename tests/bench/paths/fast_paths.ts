/**
 * Each fast path and its plain sibling, in one process.
 *
 * @module
 */

import process from "node:process";
import { requestUrl } from "../../../adapters/serve/request_url.ts";
import { digestKey } from "../../../core/keys/api_keys.ts";
import { parseJson } from "../../../core/pets/int64.ts";
import { readJson } from "../../../core/http/body.ts";
import { parsePage } from "../../../core/pets/page.ts";
import {
  joinPet,
  type Pet,
  PET_STATUSES,
  petId,
  petsToJson,
} from "../../../core/pets/pet.ts";
import type { PetQuery } from "../../../core/pets/pet_storage.ts";
import { decodeQuery, parseQuery } from "../../../core/http/query.ts";
import { apiKeys, memoryStorage } from "../../../mod.ts";
import { readTask } from "../in_runtime.ts";
import { inTurns, middleHalf, ratios, roundedMedian } from "../turns.ts";
import { blocking, speedometer, waiting, type Way } from "../way.ts";

/** What this program is told. */
export interface PathsTask {
  readonly rounds: number;
  /** How long a turn of the HTTP part is; a turn here is a part of it. */
  readonly seconds: number;
}

interface Paths {
  readonly name: string;
  readonly plain: Way;
  readonly fast: Way;
}

const SHARE_OF_TURN = 0.1;
const KEY = "pet_0123456789ABCDEFGHIJabcdefghij0123456789";
const LIMITS = { maxBodyBytes: 65_536, bodyTimeout: 10_000 };
const QUERY = "limit=100&status=available";
const BODY = '{"name":"Rex","categoryId":1,"status":"available"}';
const keys = apiKeys([KEY]);

const paths: readonly Paths[] = [
  ...[20, 100].map((count): Paths => ({
    name: `${count} animals as JSON: by JSON.stringify, or put together`,
    plain: blocking((i) => `[${page(count, i).map(joinPet).join(",")}]`),
    fast: blocking((i) => petsToJson(page(count, i))),
  })),
  ...[20, 100].map((count): Paths => ({
    name:
      `${count} animals in memory as JSON: text that is kept, or made of objects`,
    plain: waiting(async (i) => petsToJson(await memory.list(query(count, i)))),
    fast: waiting(async (i) => await memory.list.json?.(query(count, i))),
  })),
  {
    name: "a query: by hand, or by URLSearchParams",
    plain: blocking(() => parsePage(decodeQuery(QUERY))),
    fast: blocking(() => parsePage(parseQuery(QUERY))),
  },
  {
    // A name of the same length that might be a number sends the text to the reviver.
    name: "a body parsed: without a reviver, or with",
    plain: blocking(() => parseJson(BODY.replace("Rex", "0.5"))),
    fast: blocking(() => parseJson(BODY.replace("Rex", "0,5"))),
  },
  {
    name: "a body read: of an announced length, or chunk by chunk",
    plain: waiting(() => readJson(post({}), LIMITS)),
    fast: waiting(() =>
      readJson(post({ "content-length": String(BODY.length) }), LIMITS)
    ),
  },
  {
    name: "a key checked: remembered, or hashed",
    plain: waiting(() => digestKey(KEY)),
    fast: waiting(() => keys.verify(KEY)),
  },
  {
    // A host in capitals is not what the URL parser would leave as it is.
    name: "a URL on Node: as it stands, or through the URL parser",
    plain: blocking((i) => requestUrl("http", "EXAMPLE.com", `/v1/pets/${i}`)),
    fast: blocking((i) => requestUrl("http", "example.com", `/v1/pets/${i}`)),
  },
];

// Names as they come out of a body: JSON.stringify is slower at text that was put together here.
const names: readonly string[] = JSON.parse(
  JSON.stringify(Array.from({ length: 10_000 }, (_, i) => `Zoë ${i}`)),
);
const pets = names.map((name, i): Pet => ({
  id: petId(BigInt(i + 1)),
  name,
  categoryId: BigInt(i % 50),
  status: PET_STATUSES[i % 3] ?? "available",
}));

const memory = memoryStorage();
for (const pet of pets) await memory.create(pet);

function startOf(count: number, i: number): number {
  return (i * 7919) % (pets.length - count);
}

function page(count: number, i: number): readonly Pet[] {
  const start = startOf(count, i);
  return pets.slice(start, start + count);
}

function query(count: number, i: number): PetQuery {
  return { limit: count, after: BigInt(startOf(count, i)) };
}

function post(headers: Readonly<Record<string, string>>): Request {
  return new Request("http://localhost/v1/pets", {
    method: "POST",
    body: BODY,
    headers: { "content-type": "application/json", ...headers },
  });
}

async function measure(
  { name, plain, fast }: Paths,
  { rounds, seconds }: PathsTask,
): Promise<readonly (string | number)[]> {
  const turnTime = seconds * SHARE_OF_TURN;
  const speeds = await inTurns({
    plain: speedometer(plain, 1, turnTime),
    fast: speedometer(fast, 1, turnTime),
  }, { rounds: 3 * rounds, warmUp: 6 });
  const gains = ratios(speeds.fast, speeds.plain);
  return [
    name,
    roundedMedian(speeds.plain.map((speed) => 1e6 / speed)),
    roundedMedian(speeds.fast.map((speed) => 1e6 / speed)),
    roundedMedian(gains),
    middleHalf(gains),
  ];
}

const task = readTask<PathsTask>(process.argv);
const rows = [];
for (const each of paths) rows.push(await measure(each, task));
console.log(JSON.stringify(rows));
