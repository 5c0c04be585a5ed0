/**
 * Each fast path of the core beside its plain sibling.
 *
 * @module
 */

import { decodeQuery, parseQuery } from "../../../../core/http/query.ts";
import { parsePage } from "../../../../core/pets/page.ts";
import { parseJson } from "../../../../core/pets/int64.ts";
import {
  joinPet,
  type Pet,
  PET_STATUSES,
  petId,
  petsToJson,
} from "../../../../core/pets/pet.ts";
import { digestKey } from "../../../../core/keys/api_keys.ts";
import { apiKeys } from "../../../../mod.ts";
import { serveTasks } from "../../reply.ts";
import { compareAll, type CompareOptions, type Comparison } from "./compare.ts";

const KEY = "pet_0123456789ABCDEFGHIJabcdefghij0123456789";
const QUERY = "limit=100&status=available";
const BODY = '{"name":"Rex","categoryId":1,"status":"available"}';
const keys = apiKeys([KEY]);

// Names as they come out of a body: JSON.stringify is slower at text that was put together here.
const names: readonly string[] = JSON.parse(
  JSON.stringify(Array.from({ length: 1000 }, (_, i) => `Zoë ${i}`)),
);
const pets = names.map((name, i): Pet => ({
  id: petId(BigInt(i + 1)),
  name,
  categoryId: BigInt(i % 50),
  status: PET_STATUSES[i % 3] ?? "available",
}));
const page = (i: number): readonly Pet[] => pets.slice(i % 800, i % 800 + 100);

const paths: readonly Comparison[] = [
  {
    name: "100 pets as JSON: by JSON.stringify, or put together",
    baseline: (i) => `[${page(i).map(joinPet).join(",")}]`,
    ours: (i) => petsToJson(page(i)),
  },
  {
    name: "a query: by hand, or by URLSearchParams",
    baseline: () => parsePage(decodeQuery(QUERY)),
    ours: () => parsePage(parseQuery(QUERY)),
  },
  {
    // A name of the same length that might be a number sends the text to the reviver.
    name: "a body parsed: with a reviver, or without",
    baseline: () => parseJson(BODY.replace("Rex", "0.5")),
    ours: () => parseJson(BODY.replace("Rex", "0,5")),
  },
  {
    name: "a key checked: hashed, or remembered",
    baseline: () => digestKey(KEY),
    ours: () => keys.verify(KEY),
  },
];

await serveTasks((options: CompareOptions) => compareAll(paths, options));
