import assert from "node:assert/strict";
import test from "node:test";
import type { Answer, Service } from "../../../core/http/message.ts";
import { staticContent } from "../../../core/http/static_content.ts";

test("staticContent answers 304 to *, and to a list that has its tag, weak or strong: with the tag, how to store it, and nothing else", async () => {
  const stored = { "cache-control": "no-cache" };
  const type = { "content-type": "text/plain" };
  const content = staticContent(() => encode("a"), type);
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
    const answer = await ask(content, { "if-none-match": field });
    const isKnown = matching.includes(field);
    if (isKnown) {
      const headers = { ...stored, etag: tag };
      assert.deepEqual(answer, { status: 304, headers, body: null }, field);
    } else {
      assert.equal(answer.status, 200, field);
      assert.equal(text(answer), "a");
    }
  }
});

function ask(content: Service, headers: HeadersInit = {}): Promise<Answer> {
  return content(new Request("http://localhost/", { headers }));
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

function text({ body }: Answer): string {
  assert.ok(body instanceof Uint8Array);
  return new TextDecoder().decode(body);
}

test("staticContent gives the same bytes the same tag, and others another", async () => {
  const [a, again, b] = await Promise.all(
    ["a", "a", "b"].map(async (text) => {
      const { headers } = await ask(staticContent(() => encode(text), {}));
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
    return encode(`made ${made}`);
  }, {});
  assert.equal(made, 0);
  await assert.rejects(ask(reply), /not now/);
  const [first, second] = await Promise.all([ask(reply), ask(reply)]);
  assert.equal(text(first), "made 2");
  assert.deepEqual(first, second);
});
