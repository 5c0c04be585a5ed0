import createClient from "openapi-fetch";
import type { paths } from "./petstore.d.ts";

const { GET, POST } = createClient<paths>({
  baseUrl: `${process.env.PETSTORE_URL}`,
  headers: { authorization: `Bearer ${process.env.PETSTORE_KEY}` },
});
// With the same key it can be sent again: a lost answer adds no second pet.
const created = await POST("/pets", {
  params: { header: { "Idempotency-Key": crypto.randomUUID() } },
  body: { name: "Rex", categoryId: 7 },
});
if (!created.data) fail(created);

// Integers above 2^53 do not fit the `number` of the types, so read and send their digits.
let search = "?limit=1";
while (search !== "") {
  const querySerializer = () => search;
  const page = await GET("/pets", { parseAs: "text", querySerializer });
  if (!page.data) fail(page);
  const pets: Pet[] = JSON.parse(page.data, exact);
  for (const pet of pets) {
    console.log(`${pet.id} ${pet.name} ${pet.categoryId}`);
  }
  const link = page.response.headers.get("link") ?? "";
  search = /\?[^>]*/.exec(link)?.[0] ?? "";
}

interface Pet {
  id: bigint;
  name: string;
  categoryId: bigint;
}

function exact(_key: string, value: unknown, { source } = { source: "" }) {
  return typeof value === "number" ? BigInt(source) : value;
}

function fail(answer: { error?: unknown; response: Response }): never {
  // A proxy may answer with something other than JSON, which has no code.
  const { code, message } = Object(answer.error);
  switch (code) {
    case undefined:
      console.error(`HTTP ${answer.response.status}, not from the pet store`);
      break;
    case "unauthorized":
      console.error(`${code}: set PETSTORE_KEY to a valid key`);
      break;
    default:
      console.error(`${code}: ${message}`);
  }
  process.exit(1);
}
