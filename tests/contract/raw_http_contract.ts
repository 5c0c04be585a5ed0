/**
 * What the service promises a client that sends what `fetch` would not: malformed hosts, targets in
 * other forms, bodies that lie about their length, and less. For servers on sockets only.
 */

import assert from "node:assert/strict";
import type { Answer, OpenService } from "./ask.ts";
import { type Clause, it } from "./clause.ts";
import { assertRefused } from "./error_reply.ts";
import { exchange } from "./exchange.ts";
import { add, bodyOf, named, newName, petIn, petsIn } from "./own_pets.ts";

/** The clauses. */
export const RAW_HTTP_CLAUSES: readonly Clause[] = [
  // ---- Host and target ----
  it.decided("a malformed Host is 400, before the path, the method and the key", async (service) => {
    for (const host of ["a/b", "a b", "a:80:80", "[::1", "a%zz", "http://a"]) {
      for (const line of [`GET ${pets(service)}`, "DELETE /nothing"]) {
        const sent = `${line} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
        await refused(service, sent, 400);
      }
    }
  }),

  it.decided("an empty or repeated Host is 400", async (service) => {
    const line = `GET ${pets(service)} HTTP/1.1\r\n`;
    for (const hosts of [[""], ["a", "b"], ["a", "a"]]) {
      const fields = hosts.map((host) => `Host: ${host}\r\n`).join("");
      const sent = `${line}${fields}${keyOf(service)}\r\n`;
      const answer = await one(service, sent);
      assert.equal(answer.status, 400);
      // Deno refuses a repeated one itself, with nothing to read.
      if (answer.text !== "") assertRefused(answer, 400);
    }
  }),

  it.decided("HTTP/1.0 without a Host is answered", async (service) => {
    const line = `GET ${pets(service)} HTTP/1.0\r\n`;
    const answer = await one(service, `${line}${keyOf(service)}\r\n`);
    assert.ok(petsIn(answer).length <= 20, "there are more than 20 pets");
  }),

  it.decided("an odd target is refused, never a failure and never another path", async (service) => {
    const path = pets(service);
    const odd = ["/", "/%", "/%2e%2e"].map((end) => path + end);
    odd.push(`/${path}`, path.replace(/s$/, "\u00e9"));
    for (const base of ["/v1%2f", "/V1/"]) odd.push(path.replace("/v1/", base));
    for (const target of odd) {
      const { status } = await one(service, head(service, `GET ${target}`));
      assert.ok([400, 404].includes(status), `${target} is ${status}`);
    }
  }),

  // ---- Methods ----
  it.decided("TRACE and unknown methods are 405 with Allow", async (service) => {
    for (const method of ["TRACE", "PROPFIND", "PUT"]) {
      const sent = head(service, `${method} ${pets(service)}`);
      const answer = await one(service, sent);
      assertRefused(answer, 405);
      const allowed = answer.headers.get("allow")?.split(/, */).sort();
      assert.deepEqual(allowed, ["GET", "HEAD", "OPTIONS", "POST"]);
    }
  }),

  // ---- Credentials ----
  it.decided("a repeated Idempotency-Key is 400", async (service) => {
    for (
      const [a, b] of [["k", "k"], ['"k"', '"k"'], ['"k', 'k"'], ["k", ""]]
    ) {
      const more = `Idempotency-Key: ${a}\r\nIdempotency-Key: ${b}\r\n`;
      const answer = await one(service, post(service, bodyOf(), { more }));
      assert.match(assertRefused(answer, 400), /Idempotency-Key/);
    }
  }),

  it.decided("two Authorization fields let nobody in", async (service) => {
    for (const [a, b] of [[service.key, "x"], ["x", service.key]] as const) {
      const wrong = { ...service, key: a };
      const sent = head(wrong, `GET ${pets(service)}`, keyOf({ key: b }));
      const { status } = await one(service, sent);
      assert.ok([400, 401].includes(status), `status ${status}`);
    }
  }),

  it.decided("a key with other bytes than visible ASCII is 401", async (service) => {
    for (const key of [`${service.key}\u00e9`, `${service.key}\tx`]) {
      const sent = head({ ...service, key }, `GET ${pets(service)}`);
      await refused(service, sent, 401);
    }
  }),

  // ---- Bodies ----
  it.decided("a body in chunks is one body", async (service) => {
    const name = newName();
    const sent = chunked(service, Array.from(bodyOf({ name })));
    const answer = await one(service, sent);
    assert.equal(petIn(answer, 201).name, name);
  }),

  {
    ...it.decided("a body that stops coming is 408", async (service) => {
      const name = newName();
      const body = bodyOf({ name });
      const stalls = [
        post(service, body.slice(0, -10), { length: body.length }),
        post(service, "", { length: body.length }),
        chunked(service, [body.slice(0, -10)], { isOpen: true }),
        chunked(service, [body], { isOpen: true }), // all of it, but for the end
      ];
      for (const stall of stalls) await refused(service, stall, 408);
      assert.deepEqual(await named(service, name), []);
    }),
    limits: { bodyTimeout: 100 },
    outside: "how long a body may take is an option of the service",
  },

  it.decided("a Content-Length above the cap is 413 before any of the body is sent", async (service) => {
    for (const length of [65_537, 1e12]) {
      const answer = await one(service, post(service, "", { length }));
      assert.equal(answer.status, 413);
      if (length < 1e6) assertRefused(answer, 413);
    }
  }),

  it.decided("a body in chunks above the cap is 413 before it ends", async (service) => {
    const half = " ".repeat(32_769);
    const sent = chunked(service, [half, half], { isOpen: true });
    await refused(service, sent, 413);
  }),

  {
    ...it.decided("what follows a body that is not read is never answered as a request of its own", async (service) => {
      const { id, name } = await add(service);
      const path = pets(service);
      const next = head(service, "GET /nothing");
      const smuggled = head(service, `GET ${path}/${id}`);
      const asked = [
        post(service, smuggled), // over the cap
        post(service, smuggled, { line: "POST /nothing" }),
        post(service, smuggled, { line: `PUT ${path}` }),
        post({ ...service, key: "wrong" }, smuggled),
        post(service, smuggled, { type: "text/plain" }),
        post(service, smuggled, { line: `GET ${path}/0` }),
        post(service, smuggled, { line: `OPTIONS ${path}` }),
      ];
      for (const text of asked) {
        const { answers, raw } = await exchange(service, [text, next]);
        assert.ok(!raw.includes(name), "the body was answered as a request");
        const [first, second] = answers;
        assert.ok(first !== undefined, "the first request was not answered");
        // The server may close the connection, rather than read what nobody wants.
        if (second !== undefined) assert.equal(second.status, 404);
      }
    }),
    // The pet has fewer bytes, and what is smuggled has more.
    limits: { maxBodyBytes: 70 },
  },

  it.decided("Expect: 100-continue with too long a body is refused at once", async (service) => {
    const more = "Expect: 100-continue\r\n";
    const sent = post(service, "", { length: 100_000, more });
    await refused(service, sent, 413);
  }),

  // ---- Connections ----
  it.decided("what is not HTTP is refused, and the next client is served", async (service) => {
    const line = `GET ${pets(service)}`;
    const garbage = [
      "hello\r\n\r\n",
      "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
      "GET\r\n\r\n",
      `GET  ${pets(service)} HTTP/1.1\r\n\r\n`,
      `${line} HTTP/9.9\r\nHost: a\r\n\r\n`,
      `${line} HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n`,
      `${line} HTTP/1.1\r\nHost: a\r\nx: \x00\r\n\r\n`,
      `${line}?${"x".repeat(100_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
      `${line} HTTP/1.1\r\nHost: a\r\nx: ${"x".repeat(100_000)}\r\n\r\n`,
    ];
    for (const bytes of garbage) {
      const { raw } = await exchange(service, [bytes], { end: true });
      assert.match(raw, /^$|^HTTP\/1\.1 [45]/);
      assert.doesNotMatch(raw, /^HTTP\/1\.1 500/);
      assert.doesNotMatch(raw, /\.[jt]s:\d|node:|at \//);
      assert.equal((await one(service, head(service, line))).status, 200);
    }
  }),
];

type Addressed = Pick<OpenService, "base" | "key">;

interface PostOptions {
  /** The method and the path. Default: those of a create. */
  readonly line?: string;
  readonly type?: string;
  /** What `Content-Length` says. Default: the truth. */
  readonly length?: number;
  /** More header lines. */
  readonly more?: string;
}

/** The path of the listing: `/v1/pets`. */
export function pets({ base }: Pick<OpenService, "base">): string {
  return `${new URL(base).pathname}/pets`;
}

function keyOf({ key }: Pick<OpenService, "key">): string {
  return `Authorization: Bearer ${key}\r\n`;
}

/** The head of a request, to its end. */
export function head(service: Addressed, line: string, more = ""): string {
  const { host } = new URL(service.base);
  return `${line} HTTP/1.1\r\nHost: ${host}\r\n${keyOf(service)}${more}\r\n`;
}

/** A request with a body of one byte a character. */
function post(
  service: Addressed,
  body: string,
  options: PostOptions = {},
): string {
  const { type = "application/json", length = body.length } = options;
  const { line = `POST ${pets(service)}`, more = "" } = options;
  const fields = `Content-Type: ${type}\r\nContent-Length: ${length}\r\n`;
  return head(service, line, fields + more) + body;
}

function chunked(
  service: Addressed,
  chunks: readonly string[],
  { isOpen = false } = {},
): string {
  const sent = chunks.map((chunk) =>
    `${chunk.length.toString(16)}\r\n${chunk}\r\n`
  );
  const fields =
    "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n";
  const end = isOpen ? "" : "0\r\n\r\n";
  return head(service, `POST ${pets(service)}`, fields) + sent.join("") + end;
}

/** Sends one request, whole or not, and returns its answer. */
async function one(service: OpenService, sent: string): Promise<Answer> {
  const { answers, raw } = await exchange(service, [sent]);
  const [answer] = answers;
  assert.ok(answer !== undefined, `No answer but ${JSON.stringify(raw)}`);
  return answer;
}

async function refused(
  service: OpenService,
  sent: string,
  status: number,
): Promise<void> {
  assertRefused(await one(service, sent), status);
}
