// Each fast path of the core beside its plain sibling.
import { decodeQuery, parseQuery } from "../../../../core/http/query.ts";
import { parsePage } from "../../../../core/pets/page.ts";
import { parseJson } from "../../../../core/json.ts";
import { joinPet, petsToJson } from "../../../../core/pets/pet.ts";
import { sha256 } from "../../../../core/http/sha256.ts";
import { apiKeys, type Pet, petId } from "../../../../mod.ts";
import { serveTasks } from "../../reply.ts";
import { compareAll, type CompareOptions, type Comparison } from "./compare.ts";

const KEY = "pet_0123456789ABCDEFGHIJabcdefghij0123456789";
const QUERY = "limit=100&status=available";
const BODY = '{"name":"Rex","categoryId":1,"status":"available"}';
const keys = apiKeys([KEY]);
const pets = Array.from({ length: 100 }, (_, i): Pet => {
  // A text in one piece, as it comes out of a body. A template leaves it in two.
  const name: string = JSON.parse(`"Zoë ${i}"`);
  return { id: petId(BigInt(i + 1)), name, categoryId: 1n, status: "pending" };
});

const paths: readonly Comparison[] = [
  {
    name: "100 pets as JSON: by JSON.stringify, or put together",
    baseline: () => `[${pets.map(joinPet).join(",")}]`,
    ours: () => petsToJson(pets),
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
    baseline: () => sha256(KEY),
    ours: () => keys.verify(KEY),
  },
];

await serveTasks((options: CompareOptions) => compareAll(paths, options));
