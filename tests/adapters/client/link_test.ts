/** The link to the next page, as services may write it. */
import assert from "node:assert/strict";
import test from "node:test";
import { BASE, failure, json, KEY, petJson, scripted } from "./scripted.ts";

/** Lists pets of a service that sends this field. */
async function next(link: string): Promise<string | undefined> {
  const { client } = scripted([
    json(`[${petJson(1n)}]`, { headers: { link } }),
  ]);
  return (await client.listPets({ limit: 2 })).next;
}

/** Asserts that a link is an error, whose message has these words and no key. */
async function assertWrong(link: string, words: RegExp): Promise<void> {
  const { code, status, message } = await failure(next(link));
  assert.deepEqual([code, status], ["invalid_response", 200], link);
  assert.match(message, words);
  assert.ok(!message.includes(KEY));
}

test("the next page is found among several links, parameters and relation types", async () => {
  const targets = {
    '<?after=7>; rel="next"': "pets?after=7",
    "<?after=7>;rel=next": "pets?after=7",
    '<a> ; rel = "next"': "a",
    '<a>; rel="prev", <b>; rel="next"': "b",
    '<a>; rel="first prev", <b>; rel="last  NEXT"': "b",
    '<a>; title="x, <y>; rel=next", <b>; REL=Next': "b",
    "<a,b;c>; rel=next; title=x": "a,b;c",
  };
  for (const [link, target] of Object.entries(targets)) {
    assert.equal(await next(link), `${BASE}/${target}`);
  }
});

test("a link is not the next page only because it looks like one", async () => {
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
    '<a>; title="x; rel=next; y"',
  ];
  for (const field of fields) assert.equal(await next(field), undefined, field);
});

test("a relative link resolves against the address of the page", async () => {
  const targets = {
    "?limit=2&after=1": `${BASE}/pets?limit=2&after=1`,
    "../v2/pets?after=1": "http://localhost/v2/pets?after=1",
    "/v1/pets?after=1": `${BASE}/pets?after=1`,
    "//localhost/x": "http://localhost/x",
    "http://localhost:80/x": "http://localhost/x",
    "?after=1#top": `${BASE}/pets?after=1`,
  };
  for (const [target, expected] of Object.entries(targets)) {
    assert.equal(await next(`<${target}>; rel=next`), expected);
  }
});

test("a malformed Link header is an error, because a walk would end early", async () => {
  const fields = [
    "next",
    "a>; rel=next",
    "<a; rel=next",
    '<a>; rel="next',
    "<a> rel=next",
    "<a>; rel=next, b",
    '<a>; rel=pr"ev',
  ];
  for (const field of fields) {
    await assertWrong(field, /Link header is malformed/);
  }
});

test("a next page elsewhere is an error, and the key does not go there", async () => {
  const targets =
    `http://elsewhere/v1/pets?after=1 //elsewhere/v1/pets?after=1 http:// http://${KEY}/
    http://localhost:8080/v1/pets?after=1 http://localhost@elsewhere/`;
  for (const target of targets.split(/\s+/)) {
    const words = target === "http://" ? /malformed/ : /another origin/;
    await assertWrong(`<${target}>; rel=next`, words);
  }
});

test("a link to the same page is an error, however it is written", async () => {
  const targets = ["", "#next", "?limit=2", "pets?limit=2"]
    .concat(`${BASE}/pets?limit=2`)
    .concat("HTTP://LOCALHOST:80/v1/x/../pets?limit=2#next");
  for (const target of targets) {
    await assertWrong(`<${target}>; rel=next`, /this one again/);
  }
});

test("a Link header of 8 KiB is read, and a longer one is malformed", async () => {
  const field = "<a>; rel=next; title=x";
  assert.equal(await next(field.padEnd(8192, "x")), `${BASE}/a`);
  await assertWrong(field.padEnd(8193, "x"), /Link header is malformed/);
});
