/** When there is a next page: the `Link` field, as services may write it. */
import assert from "node:assert/strict";
import test from "node:test";
import type { PetsQuery } from "../../../adapters/client/mod.ts";
import { json, petJson, scripted } from "./scripted.ts";

/** Lists pets of a service that sends this field. */
async function next(link: string): Promise<PetsQuery | undefined> {
  const { client } = scripted([
    json(`[${petJson(1n)}]`, { headers: { link } }),
  ]);
  return (await client.listPets({ limit: 2, status: "available" })).next;
}

test("next begins after the last id wherever Link has rel=next, whatever its target", async () => {
  const fields = [
    '<?after=7>; rel="next"',
    "<?after=7>;rel=next",
    '<http://elsewhere/> ; rel = "next"',
    '<a>; rel="prev", <b>; rel="next"',
    '<a>; rel="first prev", <b>; rel="last  NEXT"',
    '<a>; title="x, <y>", <b>; REL=Next',
    "<a,b;c>; rel=next; title=x",
    '<a>; rel="next last"',
  ];
  for (const field of fields) {
    const expected = { limit: 2, status: "available", after: 1n };
    assert.deepEqual(await next(field), expected, field);
  }
});

test("next is undefined if Link only resembles a link to the next page", async () => {
  const fields = [
    '<a>; rel="nextish"',
    '<a>; rel="next-archive"',
    '<a>; title="next"',
    '<a>; rel="http://example.com/next"',
    "<a>; rev=next",
    "<a>",
    "",
    "</pets>; rel=successor-version",
    "<a>; rel=next-archive",
    ",",
  ];
  for (const field of fields) assert.equal(await next(field), undefined, field);
});
