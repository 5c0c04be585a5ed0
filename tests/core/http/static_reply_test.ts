import assert from "node:assert/strict";
import test from "node:test";
import {
  matchesETag,
  staticReply,
  strongETag,
} from "../../../core/http/static_reply.ts";

const TAG = '"abc"';

test("matchesETag says no where the field is absent", () => {
  assert.equal(matchesETag(null, TAG), false);
});

test("matchesETag takes * for anything that exists", () => {
  assert.equal(matchesETag("*", TAG), true);
  assert.equal(matchesETag(" * ", TAG), true);
});

test("matchesETag finds the tag alone and in a list, weak or strong", () => {
  const matching = [
    ...['"abc"', 'W/"abc"', '"x", "abc"', '"x","abc","y"', '"x" , W/"abc"'],
    ...[', "abc",', '"a,b", "abc"', '"", "abc"'],
  ];
  for (const field of matching) {
    assert.equal(matchesETag(field, TAG), true, field);
  }
  assert.equal(matchesETag('"abc"', 'W/"abc"'), true);
});

test("matchesETag looks for the whole tag, and reads no field that is malformed", () => {
  const others = [
    ...['"ab"', '"abcd"', '"ABC"', '"x, "abc"', "abc", 'w/"abc"', '"abc" "x"'],
    ...['"x", *', '"abc", x', '"x,abc"', ""],
  ];
  for (const field of others) {
    assert.equal(matchesETag(field, TAG), false, field);
  }
});

test("matchesETag reads a hostile field in no time", () => {
  const field = '"a",'.repeat(20_000) + "x";
  const start = performance.now();
  assert.equal(matchesETag(field, TAG), false);
  assert.ok(performance.now() - start < 1000);
});

test("strongETag is the same for the same bytes, and another for others", async () => {
  const [a, again, b] = await Promise.all(
    ["a", "a", "b"].map((text) => strongETag(text)),
  );
  assert.match(a ?? "", /^"[0-9a-f]{32}"$/);
  assert.equal(a, again);
  assert.notEqual(a, b);
});

test("staticReply makes the content once, and only when it is asked for", async () => {
  let made = 0;
  const reply = staticReply(() => `made ${++made}`, {
    "content-type": "text/plain",
    "cache-control": "no-cache",
  });
  assert.equal(made, 0);
  const [first, second] = await Promise.all([
    reply(new Request("http://localhost/")),
    reply(new Request("http://localhost/")),
  ]);
  assert.equal(first?.body, "made 1");
  assert.deepEqual(first, second);
});

test("staticReply tries again where the content could not be made", async () => {
  let turn = 0;
  const reply = staticReply(() => {
    if (turn++ === 0) throw new Error("not now");
    return "made";
  }, {});
  await assert.rejects(reply(new Request("http://localhost/")), /not now/);
  assert.equal((await reply(new Request("http://localhost/"))).body, "made");
});

test("staticReply answers 304 with the tag, how to store it, and nothing else", async () => {
  const reply = staticReply(() => "x", {
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
