/**
 * Answers to bytes that are meant to confuse servers: messages with an ambiguous end, malformed
 * chunks, floods, and clients that go away or are slow.
 *
 * Each message is followed by another request, once it is answered or the server is silent.
 * Whatever happens to the message, there is never a 5xx, never a second answer to it, and what
 * follows is never taken for its body. The request waits because Bun closes a connection on which a
 * request arrives while another waits for the storage: `hostile_bytes_slow.ts` covers that.
 */

import assert from "node:assert/strict";
import type { Answer, Pet } from "./ask.ts";
import {
  type Check,
  type Clauses,
  newName,
  type PetsClient,
} from "./pets_client.ts";
import { answersIn, head, pets, targetOf } from "./raw_http_contract.ts";
import { rawRequest, Wire } from "./wire.ts";

/** A name as long as a new one, which replaces it. */
const NAME = "R".repeat(newName().length);
const REX = `{"name":"${NAME}","categoryId":1}`;
const SIZE = REX.length.toString(16);
const CHUNKED = "Transfer-Encoding: chunked\r\n";
const JSON_TYPE = "Content-Type: application/json\r\n";
const LENGTH = `Content-Length: ${REX.length}\r\n`;
const IN_CHUNKS = `${SIZE}\r\n${REX}\r\n0\r\n\r\n`;
/**
 * How long a server must send nothing to count as silent, in ms: if it may be silent, and if it
 * must answer.
 */
const SILENCE = 1000;
const QUIET = 3000;

/** The connection is closed without an answer. */
const NOTHING = 0;
const REFUSED: readonly number[] = [NOTHING, 400, 408];
const TAKEN: readonly number[] = [201];
const EITHER: readonly number[] = [201, 400];
/** A server may not know a coding (RFC 9112 §6.1). */
const UNKNOWN: readonly number[] = [...REFUSED, 501];
/** A server may replace these bytes by spaces (RFC 9112 §5.2, RFC 9110 §5.5). */
const REPLACED: readonly number[] = [...REFUSED, 201];

// deno-fmt-ignore -- a table
/** The fields and the body of a create, and the statuses that are allowed. */
const CASES: readonly (readonly [what: string, fields: string, body: string, statuses: readonly number[]])[] = [
  // The end of a body (RFC 9112 §6.3)
  ["a length and chunks", LENGTH + CHUNKED, IN_CHUNKS, REFUSED],
  ["two lengths", `${LENGTH}Content-Length: 0\r\n`, REX, REFUSED],
  ["a length twice", LENGTH + LENGTH, REX, EITHER],
  ["a length in hex", `Content-Length: 0x${SIZE}\r\n`, REX, REFUSED],
  ["a length of 20 digits", `Content-Length: ${"9".repeat(20)}\r\n`, REX, [...REFUSED, 413]],
  ["a space before a colon", `Content-Length : ${REX.length}\r\n`, REX, REFUSED],
  ["an unknown coding", "Transfer-Encoding: xchunked\r\n", IN_CHUNKS, UNKNOWN],
  ["chunks of another coding", "Transfer-Encoding: gzip, chunked\r\n", IN_CHUNKS, UNKNOWN],
  ["chunks in chunks", "Transfer-Encoding: chunked, chunked\r\n", IN_CHUNKS, UNKNOWN],
  ["chunks after a tab, in mixed case", "Transfer-Encoding:\tChUnKeD\r\n", IN_CHUNKS, TAKEN],
  ["a folded field", `X: a\r\n b\r\n${LENGTH}`, REX, REPLACED],
  ["a line that ends in LF", `X: a\n${LENGTH}`, REX, EITHER],
  ["a NUL within a field", `X: \0\r\n${LENGTH}`, REX, REPLACED],
  // Chunks (RFC 9112 §7.1)
  ["a chunk with extensions", CHUNKED, `${SIZE};a=b;c="d"\r\n${REX}\r\n0;e\r\n\r\n`, TAKEN],
  ["a space after a size", CHUNKED, `${SIZE} \r\n${REX}\r\n0\r\n\r\n`, EITHER],
  ["a chunk of 16 EiB", CHUNKED, `ffffffffffffffff\r\n${REX}`, [...REFUSED, 413]],
  ["a size beyond 64 bits", CHUNKED, `${"1".repeat(30)}\r\n${REX}\r\n0\r\n\r\n`, REFUSED],
  ["a chunk longer than its size", CHUNKED, `${(REX.length - 1).toString(16)}\r\n${REX}\r\n0\r\n\r\n`, REFUSED],
  ["chunks whose lines end in LF", CHUNKED, `${SIZE}\n${REX}\n0\n\n`, REFUSED],
  ["no last chunk", CHUNKED, `${SIZE}\r\n${REX}\r\n`, REFUSED],
  ["a trailer that claims a length", CHUNKED, `${SIZE}\r\n${REX}\r\n0\r\nContent-Length: 5\r\n\r\n`, EITHER],
  // Floods
  ["80 fields", "X: y\r\n".repeat(80) + LENGTH, REX, TAKEN],
  ["5,000 fields", "X: y\r\n".repeat(5000) + LENGTH, REX, [...EITHER, NOTHING, 431]],
  ["a field of 1 MB", `X: ${"y".repeat(1e6)}\r\n${LENGTH}`, REX, [...EITHER, NOTHING, 431]],
];

/**
 * Bun 1.4 takes what follows the last chunk for the next request, and refuses it: after the 201 or,
 * if the create waits for the disk, instead of it.
 */
const BUN_TAKES = "a trailer that claims a length";

/** Clauses on hostile bytes. */
export const HOSTILE_BYTES_CLAUSES: Clauses = quick({
  ...Object.fromEntries(CASES.map(createOf)),

  async "an offer of HTTP/2 by Upgrade is ignored; Deno refuses one with a body"(
    client,
  ) {
    const other = await client.addPet();
    const offer = "Connection: Upgrade, HTTP2-Settings\r\n" +
      "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n";
    const [list] = await converse(client, line(client, "GET", offer), other);
    assert.equal(list?.status, 200);
    const { runtime } = client.service;
    const statuses = runtime === "deno" ? [400] : [201];
    if (runtime === undefined) statuses.push(400);
    const cases = [`${LENGTH}\r\n${REX}`, `${CHUNKED}\r\n${IN_CHUNKS}`];
    for (const sent of cases) {
      const start = line(client, "POST", JSON_TYPE + offer).slice(0, -2);
      const [create] = await converse(client, start + sent, other, {
        until: NAME,
      });
      const { status = NOTHING, text } = create ?? {};
      assertOneOf(statuses, status, `${status || NO_ANSWER}`);
      // Deno refuses it before the service sees it, without a body.
      if (runtime === "deno") assert.equal(text, "");
    }
  },

  async "a client that ends its side is answered, or cut off"(client) {
    const other = await client.addPet();
    const [first, ...more] = await converse(client, "", other, { end: true });
    assert.deepEqual(more, []);
    if (first === undefined) {
      // Deno and Node may assume that the client went away (RFC 9112 §9.6 allows that).
      assert.notEqual(client.service.runtime, "bun");
    } else {
      assert.equal(first.status, 200);
      assert.ok(first.text.includes(other.name), first.text);
    }
    assert.equal((await client.get("/pets")).status, 200);
  },

  async "clients that go away before the answer harm nobody"(client) {
    const name = newName();
    const start = line(client, "POST", JSON_TYPE + LENGTH);
    const all = start + REX.replace(NAME, name);
    const list = line(client, "GET");
    for (const sent of ["", all.slice(0, 50), start, all, list]) {
      await Promise.all(Array.from({ length: 20 }, async () => {
        (await Wire.to(client.base, sent)).close();
      }));
    }
    const { length } = await client.findPets(name);
    assert.ok(length <= 20, `${length} pets`);
  },
});

/** Makes a clause from a row of the table. */
function createOf(
  [what, fields, body, statuses]: (typeof CASES)[number],
): [string, Check] {
  const outcome = statuses === TAKEN ? "one request" : "never two requests";
  const check: Check = async (client) => {
    const other = await client.addPet();
    const name = newName();
    const start = line(client, "POST", JSON_TYPE + fields);
    const message = start + body.replace(NAME, name);
    const quiet = statuses.includes(NOTHING) ? SILENCE : QUIET;
    const answers = await converse(client, message, other, { quiet });
    const [first = { status: NOTHING }, second, ...more] = answers;
    const all = answers.map(({ status }) => status).join(", ");
    assertOneOf(statuses, first.status, all || NO_ANSWER);
    if (what === BUN_TAKES && await isBun(client)) {
      return assert.match(all, /^(?:201, )?400$/);
    }
    if (second !== undefined) {
      assert.equal(second.status, 200, "the next request is answered");
      assert.ok(second.text.includes(other.name), "it answers what follows");
    }
    assert.ok(more.length === 0, `2 requests are answered ${all}`);
    if (first.status !== 201) return await client.assertNotAdded(name);
    const { length } = await client.findPets(name);
    assert.equal(length, 1, `pets after ${all}`);
  };
  return [`a create with ${what} is ${outcome}`, check];
}

const NO_ANSWER = "a closed connection";

/** Asserts that a message is answered with one of the statuses. `told` is what came. */
function assertOneOf(
  statuses: readonly number[],
  status: number,
  told: string,
): void {
  const allowed = statuses.map((one) => one || NO_ANSWER).sort().join(" or ");
  const words = `the answer is ${told}, and should be ${allowed}`;
  assert.ok(statuses.includes(status), words);
}

/**
 * Tells whether a server runs on Bun, the only runtime that refuses this request itself, with an
 * empty body.
 */
async function isBun({ base, service }: PetsClient): Promise<boolean> {
  if (service.runtime !== undefined) return service.runtime === "bun";
  const wire = await Wire.to(base, rawRequest("OPTIONS *"));
  try {
    const { status, body } = await wire.answer("OPTIONS");
    return status === 400 && body === "";
  } finally {
    wire.close();
  }
}

/** Makes clauses for which the tests shorten the wait for a body, which still exceeds `SILENCE`. */
function quick(checks: Readonly<Record<string, Check>>): Clauses {
  const limits = { bodyTimeout: 2 * SILENCE };
  return Object.fromEntries(
    Object.entries(checks).map(([title, check]) => [title, { check, limits }]),
  );
}

/** The head of a request to the listing's address, to its end. */
function line(client: PetsClient, method: string, fields = ""): string {
  return head(client, `${method} ${pets(client)}`, fields);
}

/** Tells whether a text has a whole answer, or its whole header if it has no length. */
export function isWhole(text: string): boolean {
  const [head = "", body] = text.split(/\r\n\r\n(.*)/s);
  const length = /^content-length: *(\d+)/im.exec(head)?.[1];
  return body !== undefined && body.length >= Number(length ?? 0);
}

/**
 * Sends bytes, and a request for a pet once they are answered or the server is silent. Reads until the
 * server closes the connection, has sent a text (by default the name of that pet), or is silent again.
 */
async function converse(
  client: PetsClient,
  bytes: string,
  pet: Pet,
  { end = false, until = pet.name, quiet = QUIET } = {},
): Promise<readonly Answer[]> {
  const next = head(client, `GET ${targetOf(client, pet.id)}`);
  client.service.seen?.(bytes + next);
  const wire = await Wire.to(client.base, bytes);
  if (bytes !== "") await wire.until(isWhole, quiet);
  wire.write(next);
  if (end) wire.end();
  const raw = await wire.until((text) => text.includes(until), QUIET);
  wire.close();
  const answers = answersIn(raw);
  for (const answer of answers) client.service.seen?.(answer);
  return answers;
}
