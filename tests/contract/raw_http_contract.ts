/**
 * The promises to a client that sends what `fetch` would not: malformed hosts, targets in other
 * forms, bodies that lie about their length. Only for servers on sockets.
 */

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { Answer } from "./ask.ts";
import { assertRefused } from "./error_reply.ts";
import {
  type Clauses,
  newName,
  petIn,
  type PetsClient,
  petsIn,
} from "./pets_client.ts";
import { rawRequest, Wire } from "./wire.ts";

/** Clauses of the contract for a client that writes bytes. */
export const RAW_HTTP_CLAUSES: Clauses = {
  // ---- Host and target ----
  async "a malformed Host is 400, before the path, the method and the key"(
    client,
  ) {
    for (const host of ["a/b", "a b", "a:80:80", "[::1", "a%zz", "http://a"]) {
      for (const line of [`GET ${pets(client)}`, "DELETE /nothing"]) {
        const sent = rawRequest(line, [`Host: ${host}`]);
        await refused(client, sent, 400);
      }
    }
  },

  async "an empty or repeated Host is 400"(client) {
    for (const hosts of [[""], ["a", "b"], ["a", "a"]]) {
      const fields = hosts.map((host) => `Host: ${host}`);
      const line = `GET ${pets(client)}`;
      const sent = rawRequest(line, [...fields, keyOf(client).trimEnd()]);
      const answer = await one(client, sent);
      assert.equal(answer.status, 400);
      // Deno refuses a repeated one itself, without a body.
      if (answer.text !== "") assertRefused(answer, 400);
    }
  },

  async "HTTP/1.0 without a Host is answered"(client) {
    const pet = await client.addPet();
    const line = `GET ${targetOf(client, pet.id)} HTTP/1.0\r\n`;
    const answer = await one(client, `${line}${keyOf(client)}\r\n`);
    if (client.isAfterRemoval) assert.deepEqual(petsIn(answer), [pet]);
    else assert.deepEqual(petIn(answer, 200), pet);
  },

  async "an odd target is refused, and is neither a 5xx nor taken for another path"(
    client,
  ) {
    const path = pets(client);
    const odd = ["/", "/%", "/%2e%2e"].map((end) => path + end);
    odd.push(`/${path}`, path.replace(/s$/, "\u00e9"));
    for (const base of ["/v1%2f", "/V1/"]) odd.push(path.replace("/v1/", base));
    for (const target of odd) {
      const { status } = await one(client, head(client, `GET ${target}`));
      assert.ok(
        [400, 404].includes(status),
        `${target} is ${status}, and should be 404`,
      );
    }
  },

  async "dot segments are not resolved, however they are spelled"(client) {
    const path = pets(client);
    const get = (target: string) => one(client, head(client, `GET ${target}`));
    // Bun resolves them before the service sees them (RFC 3986 §5.2.4).
    const { status } = await get(`${path}/../pets`);
    assert.ok(
      [404, 200].includes(status),
      `plain dots are ${status}, and should be 404`,
    );
    for (const dots of ["%2e%2e", "%2E.", ".%2e"]) {
      const answer = await get(`${path}/${dots}/pets`);
      assert.equal(answer.status, status, dots);
    }
  },

  // ---- Methods ----
  async "TRACE, PROPFIND and PUT are 405 with Allow"(client) {
    for (const method of ["TRACE", "PROPFIND", "PUT"]) {
      const sent = head(client, `${method} ${pets(client)}`);
      const answer = await one(client, sent);
      assertRefused(answer, 405);
      const allowed = answer.headers.get("allow")?.split(/, */).sort();
      assert.deepEqual(allowed, ["GET", "HEAD", "OPTIONS", "POST"]);
    }
  },

  // ---- Credentials ----
  async "a repeated Idempotency-Key is 400"(client) {
    const cases = [["k", "k"], ['"k"', '"k"'], ['"k', 'k"'], ["k", ""]];
    for (const [a, b] of cases) {
      const more = `Idempotency-Key: ${a}\r\nIdempotency-Key: ${b}\r\n`;
      const answer = await one(
        client,
        post(client, client.petJson(), { more }),
      );
      assert.match(assertRefused(answer, 400), /Idempotency-Key/);
    }
  },

  async "a request with two Authorization fields is refused"(client) {
    for (const [a, b] of [[client.key, "x"], ["x", client.key]] as const) {
      const wrong = { base: client.base, key: a };
      const sent = head(wrong, `GET ${pets(client)}`, keyOf({ key: b }));
      const { status } = await one(client, sent);
      assert.ok([400, 401].includes(status), `${status} should be 401 or 400`);
    }
  },

  async "a key with bytes other than visible ASCII is 401"(client) {
    for (const key of [`${client.key}\u00e9`, `${client.key}\tx`]) {
      const sent = head({ base: client.base, key }, `GET ${pets(client)}`);
      await refused(client, sent, 401);
    }
  },

  // ---- Bodies ----
  async "a missing body is 400, and chunks that turn out empty are checked like others"(
    client,
  ) {
    const line = `POST ${pets(client)}`;
    for (const type of ["", "Content-Type: text/plain\r\n"]) {
      for (const length of ["", "Content-Length: 0\r\n"]) {
        await refused(client, head(client, line, type + length), 400);
      }
    }
    const empty = chunked(client, []);
    await refused(client, empty, 400);
    await refused(client, empty.replace("application/json", "text/plain"), 415);
  },

  async "an HTTP/1.0 request with Transfer-Encoding is answered, and its connection ends"(
    client,
  ) {
    const sent = chunked(client, [client.petJson()])
      .replace("HTTP/1.1", "HTTP/1.0\r\nConnection: keep-alive");
    client.service.seen?.(sent);
    const next = head(client, `GET ${pets(client)}`);
    const wire = await Wire.to(client.base, sent + next);
    try {
      const raw = await wire.rest(); // rejects if it is not closed
      const all = answersIn(raw);
      for (const answer of all) client.service.seen?.(answer);
      // Deno and Bun refuse it (RFC 9112 §6.1).
      const [first] = raw.split("\r\n");
      const words = `the answer is ${first}, and should be 201 or 400`;
      assert.match(raw, /^HTTP\/1\.[01] (?:201|400) /, words);
      assert.ok(
        all.length === 1,
        `${all.length} answers came, and the connection should end after the first`,
      );
    } finally {
      wire.close();
    }
  },

  "a body that stops arriving is 408": {
    async check(client) {
      const name = newName();
      const body = client.petJson({ name });
      const stalls = [
        post(client, body.slice(0, -10), { length: body.length }),
        post(client, "", { length: body.length }),
        chunked(client, [body.slice(0, -10)], { isOpen: true }),
        chunked(client, [body], { isOpen: true }), // complete, except for the end
      ];
      for (const stall of stalls) await refused(client, stall, 408);
      assert.deepEqual(await client.findPets(name), []);
    },
    limits: { bodyTimeout: 100 },
    outside: "how long a body may take is an option of the service",
  },

  async "a body above the limit is 413 before all of it is sent, with or without Expect"(
    client,
  ) {
    const half = " ".repeat(32_769);
    const more = "Expect: 100-continue\r\n";
    const cases = [
      post(client, "", { length: 65_537 }),
      post(client, "", { length: 65_537, more }),
      chunked(client, [half, half], { isOpen: true }),
    ];
    for (const sent of cases) {
      await refused(client, sent, 413);
    }
    const { status } = await one(client, post(client, "", { length: 1e12 }));
    assert.equal(status, 413);
  },

  "what follows a body that is not read is never answered as a request of its own":
    {
      async check(client) {
        const { id, name } = await client.addPet();
        const path = pets(client);
        const next = head(client, "GET /nothing");
        const smuggled = head(client, `GET ${targetOf(client, id)}`);
        const asked = [
          post(client, smuggled), // over the cap
          post(client, smuggled, { line: "POST /nothing" }),
          post(client, smuggled, { line: `PUT ${path}` }),
          post({ base: client.base, key: "wrong" }, smuggled),
          post(client, smuggled, { type: "text/plain" }),
          post(client, smuggled, { line: `GET ${path}/0` }),
          post(client, smuggled, { line: `OPTIONS ${path}` }),
        ];
        for (const text of asked) {
          const { answers, raw } = await exchange(client, [text, next]);
          assert.ok(!raw.includes(name), "the body was answered as a request");
          const [first, second] = answers;
          assert.ok(first !== undefined, "the first request was not answered");
          // The server may close the connection instead of reading an unwanted body.
          if (second !== undefined) assert.equal(second.status, 404);
        }
      },
      // The pet is shorter than this, and the smuggled request longer.
      limits: { maxBodyBytes: 70 },
    },

  // ---- Connections ----
  async "what is not HTTP is refused, and the next client is served"(client) {
    const line = `GET ${pets(client)}`;
    const garbage = [
      "hello\r\n\r\n",
      "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
      "GET\r\n\r\n",
      `GET  ${pets(client)} HTTP/1.1\r\n\r\n`,
      `${line} HTTP/9.9\r\nHost: a\r\n\r\n`,
      rawRequest(line, ["bad header"]),
      rawRequest(line, ["x: \x00"]),
      rawRequest(`${line}?${"x".repeat(100_000)}`),
      rawRequest(line, [`x: ${"x".repeat(100_000)}`]),
    ];
    for (const bytes of garbage) {
      const { raw } = await exchange(client, [bytes], { end: true });
      const [first] = raw.split("\r\n");
      const words =
        `the answer is ${first}, and should be a refusal other than 500`;
      assert.match(raw, /^$|^HTTP\/1\.[01] (?:4|5(?!00))/, words);
      const shown = "the answer shows where the service failed";
      assert.doesNotMatch(raw, /\.[jt]s:\d|node:|at \//, shown);
      assert.equal((await one(client, head(client, line))).status, 200);
    }
  },
};

type Addressed = Pick<PetsClient, "base" | "key">;

interface PostOptions {
  /** The method and the path. Default: those of a create. */
  readonly line?: string;
  readonly type?: string;
  /** The value of `Content-Length`. Default: the true length. */
  readonly length?: number;
  /** More header lines. */
  readonly more?: string;
}

/** The path of the listing: `/v1/pets`. */
export function pets({ base }: Pick<Addressed, "base">): string {
  return new URL(`${base}/pets`).pathname;
}

/** The target of a request whose answer has this pet first. */
export function targetOf(client: PetsClient, id: bigint): string {
  return pets(client).replace(/\/pets$/, client.pathTo(id));
}

/** Splits what a connection has received into answers, of which it reads only the status. */
export function answersIn(raw: string): readonly Answer[] {
  return raw.split(/(?=HTTP\/1\.[01] \d{3})/).filter((text) => text !== "")
    .map((text) => {
      const [first = "", ...rest] = text.split("\r\n\r\n");
      const status = Number(first.slice(9, 12));
      return { status, headers: new Headers(), text: rest.join("") };
    });
}

function keyOf({ key }: Pick<Addressed, "key">): string {
  return `Authorization: Bearer ${key}\r\n`;
}

/** Returns the whole header of a request. */
export function head(client: Addressed, line: string, more = ""): string {
  const { host } = new URL(client.base);
  return `${line} HTTP/1.1\r\nHost: ${host}\r\n${keyOf(client)}${more}\r\n`;
}

/** Makes a request whose body has one byte per character. */
function post(
  client: Addressed,
  body: string,
  options: PostOptions = {},
): string {
  const { type = "application/json", length = body.length } = options;
  const { line = `POST ${pets(client)}`, more = "" } = options;
  const fields = `Content-Type: ${type}\r\nContent-Length: ${length}\r\n`;
  return head(client, line, fields + more) + body;
}

function chunked(
  client: Addressed,
  chunks: readonly string[],
  { isOpen = false } = {},
): string {
  const sent = chunks.map((chunk) =>
    `${chunk.length.toString(16)}\r\n${chunk}\r\n`
  );
  const fields =
    "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n";
  const end = isOpen ? "" : "0\r\n\r\n";
  return head(client, `POST ${pets(client)}`, fields) + sent.join("") + end;
}

/** Sends one request, whole or not, and returns its answer. */
async function one(client: PetsClient, sent: string): Promise<Answer> {
  const { answers, raw } = await exchange(client, [sent]);
  const [answer] = answers;
  assert.ok(
    answer !== undefined,
    `The connection was closed without ${
      raw === "" ? "an answer" : `the rest of ${JSON.stringify(raw)}`
    }`,
  );
  return answer;
}

async function refused(
  client: PetsClient,
  sent: string,
  status: number,
): Promise<void> {
  assertRefused(await one(client, sent), status);
}

/** The answers over one connection. */
interface Exchange {
  /** The answers in full, in order; `100 Continue` and the like are left out. */
  readonly answers: readonly Answer[];
  /** Every byte, one character each. */
  readonly raw: string;
}

/**
 * Sends bytes, one per character, and collects the answers, or those that arrived before the server
 * closed the connection. Each part is sent when the previous one is answered, because not every
 * server accepts several requests at once. Rejects if neither happens. `end` ends the sending side
 * after the last part.
 */
async function exchange(
  client: PetsClient,
  parts: readonly string[],
  { end = false } = {},
): Promise<Exchange> {
  const wire = await Wire.to(client.base);
  const answers: Answer[] = [];
  try {
    for (const [i, part] of parts.entries()) {
      client.service.seen?.(part);
      wire.write(part);
      if (end && i === parts.length - 1) wire.end();
      let answer = await wire.answer(part.split(" ", 1)[0]);
      while (answer.status < 200) answer = await wire.answer();
      const { status, lines, body } = answer;
      assert.ok(status >= 200 && status < 600, wire.received);
      const fields = lines.map((line) => line.split(/: ?(.*)/, 2));
      const headers = new Headers(fields as [string, string][]);
      const text = Buffer.from(body, "latin1").toString("utf8");
      answers.push({ status, headers, text });
    }
  } catch (error) {
    // If an answer is missing, the test says so.
    if (!wire.isClosed) throw error;
  } finally {
    wire.close();
  }
  for (const answer of answers) client.service.seen?.(answer);
  return { answers, raw: wire.received };
}
