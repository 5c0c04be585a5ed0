/**
 * How long clients that send nothing, or a drop at a time, are borne with. Node and Bun end them all; Deno
 * ends none, which is for a proxy: see `nginx_fault.ts`.
 */
import assert from "node:assert/strict";
import { connect } from "node:net";
import test from "node:test";
import { Wire } from "../contract/wire.ts";
import { CANNOT_WATCH, withStandalone } from "../support/servers/standalone.ts";
import { findRuntimes } from "../support/servers/start.ts";

const KEY = "Authorization: Bearer secret\r\n";
const POST = "POST /v1/pets HTTP/1.1\r\nHost: a\r\n";
/** How long Deno is looked at, in ms: longer than its body deadline. */
const DENO_PATIENCE = 15_000;
const PATIENCE = 60_000;

/** What is sent at once, what every half second, the answer, and how long it takes, in s. */
interface Case {
  readonly sent: string;
  readonly drop?: string;
  /** 0: none. */
  readonly status: { deno: number; bun: number; node: number };
  readonly seconds: { bun: number; node: number };
}

/** The runtime says nothing; only Node says why it closes. */
const SILENT = { deno: 0, bun: 0, node: 408 };

const CASES: Readonly<Record<string, Case>> = {
  "a silent connection": {
    sent: "",
    status: SILENT,
    seconds: { bun: 12, node: 11 },
  },
  "a header that drips": {
    sent: "GET /livez HTTP/1.1\r\nX: ",
    drop: "y",
    status: SILENT,
    seconds: { bun: 12, node: 11 },
  },
  "an idle connection": {
    sent: "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n",
    status: same(200),
    seconds: { bun: 32, node: 6 },
  },
  "a body that drips on after 401": {
    sent: `${POST}Content-Length: 60000\r\n\r\n`,
    drop: " ",
    status: same(401),
    seconds: { bun: 32, node: 10 },
  },
  "a body that drips on after 413": {
    sent: `${POST}${KEY}Content-Length: 600000\r\n\r\n`,
    drop: " ",
    status: same(413),
    seconds: { bun: 32, node: 1 },
  },
  "a create that drips": {
    sent: `${POST}${KEY}Content-Length: 60000\r\n\r\n`,
    drop: " ",
    status: same(408),
    seconds: { bun: 40, node: 11 },
  },
};

/** Longer than any deadline of an answered body, in ms. */
const LASTING = 13_000;

for (const runtime of findRuntimes()) {
  const { name, missing } = runtime;
  // Deno closes some of them as it pleases, and no others.
  const closes = name === "deno" && "Deno does not end such connections";
  test(
    `${name}: connections on which refused creates follow each other are not closed`,
    { skip: missing ?? (CANNOT_WATCH || closes) },
    async () => {
      await withStandalone(runtime, {}, async ({ port }) => {
        await Promise.all(
          [
            [`${POST}${KEY}Content-Length: 2\r\n\r\n{}`, 400],
            [`${POST}Content-Length: 2\r\n\r\n{}`, 401],
            [`${POST}Content-Length: 600\r\n\r\n${" ".repeat(600)}`, 401],
          ].map(async ([request, status]) => {
            const wire = await Wire.open(port);
            const end = performance.now() + LASTING;
            while (performance.now() < end) {
              wire.write(`${request}`);
              assert.equal((await wire.answer()).status, status);
              await new Promise((resolve) => setTimeout(resolve, 20));
            }
            wire.close();
          }),
        );
      });
    },
  );

  test(
    `${name}: silent and dripping clients are ${
      name === "deno" ? "borne with for ever" : "closed in time"
    }, with one answer at the most`,
    { skip: missing ?? CANNOT_WATCH },
    async () => {
      await withStandalone(runtime, {}, async ({ port }) => {
        const patience = name === "deno" ? DENO_PATIENCE : PATIENCE;
        await Promise.all(
          Object.entries(CASES).map(async ([what, one]) => {
            const { statuses, seconds } = await bear(port, one, patience);
            const expected = one.status[name];
            assert.deepEqual(statuses, expected === 0 ? [] : [expected], what);
            if (name === "deno") {
              assert.equal(seconds, undefined, `${what} was closed`);
              return;
            }
            assert.ok(seconds !== undefined, `${what} lives on`);
            console.log(
              `${name}: ${what} is closed after ${seconds.toFixed()} s`,
            );
            // A few seconds more: Bun looks every four, Node every one.
            assert.ok(seconds < one.seconds[name] + 5, `${what}: ${seconds} s`);
          }),
        );
      });
    },
  );
}

function same(status: number): Case["status"] {
  return { deno: status, bun: status, node: status };
}

/** What is answered, and after how many seconds the server closes; `undefined` if it does not. */
function bear(
  port: number,
  { sent, drop = "" }: Case,
  patience: number,
): Promise<
  { readonly statuses: readonly number[]; readonly seconds?: number }
> {
  return new Promise((resolve) => {
    const start = performance.now();
    const socket = connect(port, "127.0.0.1").setEncoding("latin1");
    let raw = "";
    const dripping = setInterval(() => socket.write(drop), 500);
    const timer = setTimeout(() => finish(false), patience);
    function finish(isClosed: boolean): void {
      clearInterval(dripping);
      clearTimeout(timer);
      socket.off("close", onClose).destroy();
      const statuses = [...raw.matchAll(/HTTP\/1\.1 (\d{3})/g)]
        .map(([, status]) => Number(status));
      const seconds = (performance.now() - start) / 1000;
      resolve(isClosed ? { statuses, seconds } : { statuses });
    }
    const onClose = (): void => finish(true);
    socket.on("data", (text: string) => raw += text);
    socket.on("error", () => {}).on("close", onClose);
    socket.write(sent);
  });
}
