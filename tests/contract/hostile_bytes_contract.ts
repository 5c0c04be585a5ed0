/**
 * What the servers make of bytes that are meant to confuse them: messages whose end can be read in two
 * ways, chunks that are none, floods, and clients that go away or take their time.
 *
 * Each message is followed at once by another request. Whatever happens to the message, there is never a
 * 5xx, never a second answer to it, and what follows it is never taken for its body.
 *
 * @module
 */

import assert from "node:assert/strict";
import { connect } from "node:net";
import test from "node:test";
import type { OpenServer, ServerLimits } from "./raw_http_contract.ts";
import { Wire } from "./wire.ts";

const REX = '{"name":"Rex","categoryId":1}';
const SIZE = REX.length.toString(16);
const CHUNKED = "Transfer-Encoding: chunked\r\n";
const LENGTH = `Content-Length: ${REX.length}\r\n`;
const IN_CHUNKS = `${SIZE}\r\n${REX}\r\n0\r\n\r\n`;
/** How long is waited for more, in ms: longer than a body may take to arrive. */
const QUIET = 600;
const BODY_TIMEOUT = 200;

/** The connection is closed without an answer. */
const NOTHING = 0;
const REFUSED: readonly number[] = [NOTHING, 400];
const TAKEN: readonly number[] = [201];
const EITHER: readonly number[] = [201, 400];

/** The fields of a create and its body, and what may come of it. */
type Case = readonly [
  what: string,
  fields: string,
  body: string,
  statuses: readonly number[],
];

const CASES: readonly Case[] = [
  // Where does it end? (RFC 9112 §6.3)
  ["a length and chunks", LENGTH + CHUNKED, IN_CHUNKS, REFUSED],
  ["two lengths", `${LENGTH}Content-Length: 0\r\n`, REX, REFUSED],
  ["a length twice", LENGTH + LENGTH, REX, EITHER],
  ["a length in hex", "Content-Length: 0x1d\r\n", REX, REFUSED],
  ["a length of 20 digits", `Content-Length: ${"9".repeat(20)}\r\n`, REX, [
    ...REFUSED,
    413,
  ]],
  ["a space before a colon", "Content-Length : 29\r\n", REX, REFUSED],
  ["an unknown coding", "Transfer-Encoding: xchunked\r\n", IN_CHUNKS, REFUSED],
  [
    "chunks in chunks",
    "Transfer-Encoding: chunked, chunked\r\n",
    IN_CHUNKS,
    REFUSED,
  ],
  [
    "chunks after a tab, in mixed case",
    "Transfer-Encoding:\tChUnKeD\r\n",
    IN_CHUNKS,
    TAKEN,
  ],
  ["a folded field", `X: a\r\n b\r\n${LENGTH}`, REX, REFUSED],
  ["a line that ends in LF", `X: a\n${LENGTH}`, REX, EITHER],
  ["a NUL within a field", `X: \0\r\n${LENGTH}`, REX, REFUSED],
  // Chunks (RFC 9112 §7.1)
  [
    "a chunk with extensions",
    CHUNKED,
    `${SIZE};a=b;c="d"\r\n${REX}\r\n0;e\r\n\r\n`,
    TAKEN,
  ],
  ["a space after a size", CHUNKED, `${SIZE} \r\n${REX}\r\n0\r\n\r\n`, EITHER],
  ["a chunk of 16 EiB", CHUNKED, `ffffffffffffffff\r\n${REX}`, [
    ...REFUSED,
    408,
    413,
  ]],
  [
    "a size beyond 64 bits",
    CHUNKED,
    `${"1".repeat(30)}\r\n${REX}\r\n0\r\n\r\n`,
    REFUSED,
  ],
  [
    "a chunk longer than its size",
    CHUNKED,
    `1c\r\n${REX}\r\n0\r\n\r\n`,
    REFUSED,
  ],
  ["chunks whose lines end in LF", CHUNKED, `${SIZE}\n${REX}\n0\n\n`, REFUSED],
  ["no last chunk", CHUNKED, `${SIZE}\r\n${REX}\r\n`, REFUSED],
  [
    "a trailer that claims a length",
    CHUNKED,
    `${SIZE}\r\n${REX}\r\n0\r\nContent-Length: 5\r\n\r\n`,
    EITHER,
  ],
  // Floods
  ["80 fields", "X: y\r\n".repeat(80) + LENGTH, REX, TAKEN],
  ["5,000 fields", "X: y\r\n".repeat(5000) + LENGTH, REX, [...REFUSED, 431]],
  ["a field of 1 MB", `X: ${"y".repeat(1e6)}\r\n${LENGTH}`, REX, [
    ...REFUSED,
    431,
  ]],
];

/** Bun 1.4 takes what follows the last chunk for the next request, and refuses it. */
const BUN_TAKES_TRAILERS = [
  "a trailer that claims a length",
  "200 KB of trailers",
];

/** Registers the suite for a runtime. */
export function hostileBytesContract(
  runtime: "deno" | "bun" | "node",
  open: (limits: ServerLimits) => Promise<OpenServer>,
): void {
  function it(
    sentence: string,
    check: (server: OpenServer) => Promise<void>,
  ): void {
    test(`${runtime}: ${sentence}`, async () => {
      const server = await open({ bodyTimeout: BODY_TIMEOUT });
      // Bun closes a connection whose next request comes before an answer that it has to wait for: from
      // now on the key is known, and none is.
      assert.equal(await countPets(server), 0);
      try {
        await check(server);
      } finally {
        await server.close();
      }
    });
  }

  for (const [what, fields, body, statuses] of CASES) {
    const outcome = statuses === TAKEN ? "one request" : "never two requests";
    it(`a create with ${what} is ${outcome}`, async (server) => {
      const message =
        `POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${server.key}\r\n` +
        `Content-Type: application/json\r\n${fields}\r\n${body}`;
      const answers = await ask(server.port, message + next(server));
      const [first = { status: NOTHING }, second, ...more] = answers;
      const all = answers.map(({ status }) => status).join(", ");
      assert.ok(statuses.includes(first.status), `It is answered ${all}`);
      if (runtime === "bun" && BUN_TAKES_TRAILERS.includes(what)) {
        assert.equal(all, "201, 400");
      } else if (second !== undefined) {
        assert.equal(second.status, 404);
        assert.match(second.text, NEXT, "it is the answer to what follows");
      }
      assert.deepEqual(more, []);
      const pets = await countPets(server);
      assert.equal(pets, first.status === 201 ? 1 : 0, `after ${all}`);
    });
  }

  it("an offer of HTTP/2 by Upgrade is ignored, but on Deno, which refuses it if there is a body", async (server) => {
    const offer = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n" +
      "HTTP2-Settings: AAMAAABkAAQAAP__\r\n";
    const head =
      `HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${server.key}\r\n${offer}`;
    const [list] = await ask(server.port, `GET /v1/pets ${head}\r\n`);
    assert.equal(list?.status, 200);
    for (
      const message of [
        `POST /v1/pets ${head}${LENGTH}\r\n${REX}`,
        `POST /v1/pets ${head}${CHUNKED}\r\n${IN_CHUNKS}`,
      ]
    ) {
      const [create] = await ask(server.port, message);
      assert.equal(create?.status, runtime === "deno" ? 400 : 201);
      // Before we see it: so it is bare.
      if (runtime === "deno") assert.equal(create?.text, "");
    }
  });

  it("a client that ends its side is answered, or cut off", async (server) => {
    // Deno and Node take it for one that went away (RFC 9112 §9.6 leaves that to them).
    const answers = await ask(server.port, next(server), { end: true });
    assert.ok(answers.length <= 1);
    for (const { text } of answers) assert.match(text, NEXT);
    assert.equal(await countPets(server), 0);
  });

  it("clients that go away before the answer harm nobody", async (server) => {
    const head =
      `POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${server.key}\r\n${LENGTH}\r\n`;
    for (
      const sent of ["", head.slice(0, 50), head, head + REX, next(server)]
    ) {
      await Promise.all(Array.from({ length: 20 }, async () => {
        const wire = await Wire.open(server.port, sent);
        wire.close();
      }));
    }
    const pets = await countPets(server);
    assert.ok(pets >= 0 && pets <= 20, `${pets}`);
  });
}

interface Answer {
  readonly status: number;
  /** All but the status line. */
  readonly text: string;
}

/** Sends bytes, and reads what comes until the server closes, or answered all, or says no more. */
function ask(
  port: number,
  bytes: string,
  { end = false } = {},
): Promise<readonly Answer[]> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1").setEncoding("latin1");
    let raw = "";
    let timer: ReturnType<typeof setTimeout> | undefined;
    const finish = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(
        raw.split(/(?=HTTP\/1\.1 \d{3})/).filter((text) => text !== "").map(
          (text) => {
            const [head = "", ...rest] = text.split("\r\n\r\n");
            return { status: Number(head.slice(9, 12)), text: rest.join("") };
          },
        ),
      );
    };
    const wait = (): void => {
      clearTimeout(timer);
      timer = setTimeout(finish, QUIET);
    };
    socket.on("data", (text: string) => {
      raw += text;
      if (NEXT.test(raw)) finish();
      else wait();
    }).on("error", finish).on("close", finish);
    socket.write(bytes, "latin1");
    if (end) socket.end();
    wait();
  });
}

/** A request that follows another, and what its answer says. */
function next({ key }: OpenServer): string {
  return `GET /v1/pets/777 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`;
}
const NEXT = /\\"777\\"|\b777\b/;

async function countPets({ port, key }: OpenServer): Promise<number> {
  const wire = await Wire.open(port);
  wire.write(
    `GET /v1/pets?limit=100 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`,
  );
  const { body } = await wire.answer();
  wire.close();
  return JSON.parse(body).length;
}
