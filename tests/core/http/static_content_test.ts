import assert from "node:assert/strict";
import test from "node:test";
import type { Answer } from "../../../core/http/message.ts";
import {
  matchesETag,
  type StaticContent,
  staticContent,
} from "../../../core/http/static_content.ts";

const TAG = '"abc"';

test("matchesETag finds the tag alone and in a list, weak or strong, and takes * for any", () => {
  const matching = ['"abc"', 'W/"abc"', '"x", "abc"', '"x","abc","y"', "*"]
    .concat('"x" , W/"abc"', ', "abc",', '"a,b", "abc"', '"", "abc"', " * ");
  for (const field of matching) {
    assert.equal(matchesETag(field, TAG), true, field);
  }
  assert.equal(matchesETag('"abc"', 'W/"abc"'), true);
});

test("matchesETag looks for the whole tag, and reads no field that is missing or malformed", () => {
  const others = ['"ab"', '"abcd"', '"ABC"', '"x, "abc"', "abc", 'w/"abc"']
    .concat('"abc" "x"', '"x", *', '"abc", x', '"x,abc"', "");
  for (const field of [null, ...others]) {
    assert.equal(matchesETag(field, TAG), false, `${field}`);
  }
});

test("matchesETag reads a hostile field in no time", () => {
  const field = '"a",'.repeat(20_000) + "x";
  const start = performance.now();
  assert.equal(matchesETag(field, TAG), false);
  assert.ok(performance.now() - start < 1000);
});

function ask(content: StaticContent): ReturnType<StaticContent> {
  return content(new Request("http://localhost/"));
}

function text({ body }: Answer): string {
  assert.ok(body instanceof Uint8Array);
  return new TextDecoder().decode(body);
}

test("staticContent gives the same bytes the same tag, and others another", async () => {
  const [a, again, b] = await Promise.all(
    ["a", "a", "b"].map(async (text) => {
      const { headers } = await ask(staticContent(() => text, {}));
      return headers.etag;
    }),
  );
  assert.match(a ?? "", /^"[0-9a-f]{32}"$/);
  assert.equal(a, again);
  assert.notEqual(a, b);
});

test("staticContent makes the content once, when it is asked for, and again if that failed", async () => {
  let made = 0;
  const reply = staticContent(() => {
    if (made++ === 0) throw new Error("not now");
    return `made ${made}`;
  }, {});
  assert.equal(made, 0);
  await assert.rejects(ask(reply), /not now/);
  const [first, second] = await Promise.all([ask(reply), ask(reply)]);
  assert.equal(text(first), "made 2");
  assert.deepEqual(first, second);
});

test("staticContent answers 304 with the tag, how to store it, and nothing else", async () => {
  const reply = staticContent(() => "x", {
    "content-type": "text/plain",
    "cache-control": "no-cache",
  });
  const { headers } = await reply(new Request("http://localhost/"));
  const etag = headers.etag ?? "";
  const again = await reply(
    new Request("http://localhost/", { headers: { "if-none-match": etag } }),
  );
  assert.deepEqual(again, {
    status: 304,
    headers: { etag, "cache-control": "no-cache" },
    body: null,
  });
});
