import assert from "node:assert/strict";
import test from "node:test";
import type { Answer } from "../../../core/http/message.ts";
import {
  type StaticContent,
  staticContent,
} from "../../../core/http/static_content.ts";

test("staticContent answers 304 to *, and to a list that has its tag, weak or strong", async () => {
  const content = staticContent(() => "a", { "cache-control": "no-cache" });
  const { headers: { etag: tag = "" } } = await ask(content);
  const matching = [tag, `W/${tag}`, `"x", ${tag}`, `"x",${tag},"y"`, "*"]
    .concat(
      `"x" , W/${tag}`,
      `, ${tag},`,
      `"a,b", ${tag}`,
      `"", ${tag}`,
      " * ",
    );
  const others = [tag.slice(1), tag.slice(0, -1), tag.toUpperCase(), "", '"x"']
    .concat(tag.slice(1, -1), '"x", *', `"x,${tag.slice(1)}`);
  for (const field of [...matching, ...others]) {
    const headers = new Headers({ "if-none-match": field });
    const answer = await content({ headers });
    const isKnown = matching.includes(field);
    assert.equal(answer.status, isKnown ? 304 : 200, field);
    assert.equal(answer.headers.etag, tag);
    assert.equal(answer.body === null, isKnown);
  }
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

test("staticContent makes the content once, and only when it is asked for", async () => {
  let made = 0;
  const reply = staticContent(() => `made ${++made}`, {
    "content-type": "text/plain",
    "cache-control": "no-cache",
  });
  assert.equal(made, 0);
  const [first, second] = await Promise.all([
    reply(new Request("http://localhost/")),
    reply(new Request("http://localhost/")),
  ]);
  assert.equal(text(first), "made 1");
  assert.deepEqual(first, second);
});

test("staticContent tries again where the content could not be made", async () => {
  let turn = 0;
  const reply = staticContent(() => {
    if (turn++ === 0) throw new Error("not now");
    return "made";
  }, {});
  await assert.rejects(reply(new Request("http://localhost/")), /not now/);
  assert.equal(text(await ask(reply)), "made");
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
