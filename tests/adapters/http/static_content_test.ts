import assert from "node:assert/strict";
import test from "node:test";
import { gunzipSync } from "node:zlib";
import type { Answer } from "../../../core/answer.ts";
import {
  acceptedCodings,
  type StaticContent,
  staticContent,
} from "../../../adapters/http/static_content.ts";

test("acceptedCodings sorts by weight, and ignores a field that it cannot read", () => {
  const fields: Readonly<Record<string, readonly (string | null)[]>> = {
    "identity gzip": [null, "gzip;q=0.5, identity", "*;q=0.1, identity;q=0.2"],
    "gzip identity": ["gzip", "br, GZIP", "x-gzip", "gzip ; q=0.001", "*"]
      .concat("gzip;q=0.5,identity;q=0.5", "br;q=1.0, gzip;q=0.8, *;q=0.1"),
    identity: ["", " , ", "br", "identity", "gzip;q=0", "gzip;q=0.000, *"]
      .concat("*;q=0", "identity;q=0", "gzip;q=2", "gzip;q=-1", "gzip q=1")
      .concat("gzip;q=", "gzip;level=9", "gzipped", "br;q=gzip", "a gzip"),
    gzip: ["gzip, identity;q=0", "gzip;q=0.1, *;q=0"],
  };
  for (const [expected, sent] of Object.entries(fields)) {
    for (const field of sent) {
      assert.equal(acceptedCodings(field).join(" "), expected, `${field}`);
    }
  }
});

test("staticContent answers 304 to *, and to a list with its tag, weak or strong", async () => {
  const stored = { "cache-control": "no-cache", vary: "Accept-Encoding" };
  const type = { "content-type": "text/plain" };
  const content = staticContent(() => encode("a"), type);
  const { headers: { etag: tag = "" } } = await get(content);
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
    const answer = await get(content, { "if-none-match": field });
    const isKnown = matching.includes(field);
    if (isKnown) {
      const headers = { ...stored, etag: tag };
      assert.deepEqual(answer, { status: 304, headers, body: null }, field);
    } else {
      assert.equal(answer.status, 200, field);
      assert.equal(text(answer), "a", field);
    }
  }
});

function get(
  content: StaticContent,
  headers: HeadersInit = {},
): Promise<Answer> {
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
      const { headers } = await get(staticContent(() => encode(text), {}));
      return headers.etag;
    }),
  );
  assert.match(a ?? "", /^"[0-9a-f]{32}"$/);
  assert.equal(a, again);
  assert.notEqual(a, b);
});

test("staticContent makes the content once it is asked for, and again if that failed", async () => {
  let made = 0;
  const reply = staticContent(() => {
    if (made++ === 0) throw new Error("not now");
    return encode(`made ${made}`);
  }, {});
  assert.equal(made, 0);
  await assert.rejects(get(reply), /not now/);
  const [first, second] = await Promise.all([get(reply), get(reply)]);
  assert.equal(text(first), "made 2");
  assert.deepEqual(first, second);
});

test("staticContent has another tag in gzip, and 304 for each that a client can use", async () => {
  const long = "a".repeat(200_000); // several pieces
  const content = staticContent(() => encode(long), { "x-a": "1" });
  const GZIP = { "accept-encoding": "gzip" };
  const plain = await get(content, { "accept-encoding": "br" });
  const packed = await get(content, GZIP);
  assert.ok(packed.body instanceof Uint8Array);
  assert.ok(packed.body.byteLength < 1000);
  assert.equal(gunzipSync(packed.body).toString(), long);
  const { etag = "", ...others } = packed.headers;
  const { etag: plainTag = "", ...plainOthers } = plain.headers;
  assert.notEqual(etag, plainTag);
  assert.deepEqual(others, { ...plainOthers, "content-encoding": "gzip" });

  const either = `${etag}, ${plainTag}`;
  const cases: readonly (readonly [Record<string, string>, string, string?])[] =
    [
      [GZIP, etag, etag],
      [GZIP, plainTag, plainTag],
      [GZIP, either, etag],
      [GZIP, "*", etag],
      [{}, etag, etag],
      [{}, either, plainTag],
      [{ "accept-encoding": "" }, etag], // it could not read the stored one
      [{ "accept-encoding": "gzip, identity;q=0" }, plainTag],
    ];
  for (const [fields, known, matched] of cases) {
    const row = JSON.stringify([fields, known]);
    const answer = await get(content, { ...fields, "if-none-match": known });
    assert.equal(answer.status, matched === undefined ? 200 : 304, row);
    if (matched !== undefined) assert.equal(answer.headers.etag, matched, row);
    assert.equal(answer.headers.vary, "Accept-Encoding", row);
  }
});

test("staticContent is plain, with its tag, if the runtime cannot compress", async (t) => {
  const { CompressionStream } = globalThis;
  t.after(() => void Object.assign(globalThis, { CompressionStream }));
  const broken = class {
    readable = new ReadableStream({
      start: (controller) => controller.error(new Error("broken")),
    });
    writable = new WritableStream();
  };
  for (const missing of [undefined, broken]) {
    Object.assign(globalThis, { CompressionStream: missing });
    const content = staticContent(() => encode("a"), {});
    const gzip = { "accept-encoding": "gzip" };
    const { status, headers } = await get(content, gzip);
    assert.deepEqual(
      [status, headers["content-encoding"]],
      [200, undefined],
      `${missing}`,
    );
    assert.equal(text(await get(content, gzip)), "a", `${missing}`);
    for (const [tag, expected] of [[headers.etag, 304], ['"x"', 200]]) {
      const known = { ...gzip, "if-none-match": `${tag}` };
      assert.equal((await get(content, known)).status, expected, `${tag}`);
    }
  }
});

test("staticContent compresses without ReadableStream.from, as in Chromium", async (t) => {
  const { from } = ReadableStream;
  t.after(() => void Object.assign(ReadableStream, { from }));
  Object.assign(ReadableStream, { from: undefined });
  const content = staticContent(() => encode("a"), {});
  const { body } = await get(content, { "accept-encoding": "gzip" });
  assert.equal(gunzipSync(body as Uint8Array).toString(), "a");
});
