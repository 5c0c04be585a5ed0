/** The link to the next page, as services may write it. */
import assert from "node:assert/strict";
import test from "node:test";
import { BASE } from "./in_process.ts";
import { failure, json, petJson, scripted } from "./scripted.ts";

/** Lists pets of a service that sends this field. */
async function next(link: string): Promise<string | undefined> {
  const { client } = scripted([
    json(`[${petJson(1n)}]`, { headers: { link } }),
  ]);
  return (await client.listPets()).next?.replace(`${BASE}/`, "");
}

test("the next page is found among several links, parameters and relation types", async () => {
  assert.equal(await next('<?after=7>; rel="next"'), "pets?after=7");
  assert.equal(await next("<?after=7>;rel=next"), "pets?after=7");
  assert.equal(await next('<a> ; rel = "next"'), "a");
  assert.equal(await next('<a>; rel="prev", <b>; rel="next"'), "b");
  assert.equal(await next('<a>; rel="first prev", <b>; rel="last  NEXT"'), "b");
  assert.equal(await next('<a>; title="x, <y>; rel=next", <b>; REL=Next'), "b");
  assert.equal(await next("<a,b;c>; rel=next; title=x"), "a,b;c");
});

test("a link is not the next page only because it looks like one", async () => {
  const fields = [
    ...['<a>; rel="nextish"', '<a>; rel="next-archive"', '<a>; title="next"'],
    ...['<a>; rel="http://example.com/next"', "<a>; rev=next", "<a>", ""],
    ...["</pets>; rel=successor-version", "<a>; rel=next-archive", ","],
  ];
  for (const field of fields) assert.equal(await next(field), undefined, field);
});

test("a malformed Link header is an error, as if it were missing a walk would end early", async () => {
  const fields = [
    ...["next", "a>; rel=next", "<a; rel=next", '<a>; rel="next'],
    ...["<a> rel=next", "<a>; rel=next, b", '<a>; rel=pr"ev'],
  ];
  for (const field of fields) {
    const error = await failure(next(field));
    assert.equal(error.code, "invalid_response", field);
    assert.match(error.message, /Link header is malformed/, field);
  }
});

test("any Link header is read quickly", async () => {
  const parts = ["<a>;", '<a>;x="', "<a> \t", ",", "<a>; x ", "<", ';"'];
  for (const part of [...parts, "<a>;rel= "]) {
    const started = performance.now();
    await next(part.repeat(60_000 / part.length)).catch(() => {});
    assert.ok(performance.now() - started < 1000, part);
  }
});
