/** A body in pieces as small as can be: it costs the server neither time nor memory, nor other clients. */
import assert from "node:assert/strict";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { longestLivez } from "./clients.ts";
import { type RunningServer, testsOn } from "../../support/standalone.ts";
import { findRuntimes } from "../../support/runtime.ts";
import { REX_JSON } from "../../support/pets.ts";
import { rawRequest, statusOf, WITH_KEY } from "../../support/wire.ts";

/** The head of a create whose body has this field. */
const headOf = (field: string): string =>
  rawRequest("POST /v1/pets", [WITH_KEY, field]);
/** Below the limit of 64 KiB. */
const PIECES = 65_000;
const BLANKS = " ".repeat(PIECES);
const BLANK_CHUNKS = "1\r\n \r\n".repeat(PIECES);
const LONGEST_LIVEZ = 250;
const MOST_MEMORY = 200e6;
/** Other programs may take the processor away: what a body does, it does each time. */
const MIN_TRIES = 3;
const MAX_TRIES = 10;

/** Sends a body of so many bytes, each in a piece of its own, and returns the status of the answer. */
type Send = (port: number, body: string) => Promise<number>;

async function sendChunks(port: number, body: string): Promise<number> {
  const chunks = body === BLANKS
    ? BLANK_CHUNKS
    : body.replaceAll(/./g, "1\r\n$&\r\n");
  const head = headOf("Transfer-Encoding: chunked");
  return await statusOf(port, `${head}${chunks}0\r\n\r\n`);
}

async function sendWrites(port: number, body: string): Promise<number> {
  const socket = connect(port, "127.0.0.1").setNoDelay();
  let answer = "";
  const answered = new Promise<void>((resolve) => {
    socket.on("data", (data) => {
      answer += data;
      resolve();
    }).on("error", () => resolve()).on("close", () => resolve());
  });
  await written(socket, headOf(`Content-Length: ${body.length}`));
  for (let i = 0; i < body.length && answer === ""; i++) {
    await written(socket, body.charAt(i));
    if (i % 16 === 0) await nextTurn(); // this process asks for /livez meanwhile
  }
  await answered;
  socket.destroy();
  return Number(answer.split(" ")[1]);
}

async function sendFrames(port: number, body: string): Promise<number> {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  const stream = session.request({
    ":method": "POST",
    ":path": "/v1/pets",
    authorization: "Bearer secret",
    "content-type": "application/json",
  });
  let status = 0;
  stream.on("response", (headers) => status = headers[":status"] ?? 0);
  stream.on("error", () => {}).resume();
  const closed = new Promise<void>((resolve) => stream.on("close", resolve));
  for (let i = 0; i < body.length && status === 0; i++) {
    await written(stream, body.charAt(i));
  }
  stream.end();
  await closed;
  await new Promise<void>((resolve) => session.close(resolve));
  return status;
}

function written(
  stream: { write(text: string, done: () => void): unknown },
  text: string,
): Promise<void> {
  return new Promise((resolve) => stream.write(text, resolve));
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Sends a body while another client asks; returns the longest wait of that one, and the growth of the memory. */
async function bear(server: RunningServer, work: () => Promise<void>) {
  const before = server.memory();
  const livez = await longestLivez(server.port, work);
  return { livez, memory: server.memory() - before };
}

for (const runtime of findRuntimes()) {
  const { name } = runtime;
  const it = testsOn(runtime);
  const ways: readonly (readonly [string, Send])[] = [
    ["chunks", sendChunks],
    ["writes", sendWrites],
    // The servers of Bun and Node speak no HTTP/2.
    ...(name === "deno" ? [["DATA frames", sendFrames] as const] : []),
  ];
  for (const [how, send] of ways) {
    it(`${PIECES} ${how} of one byte hold nobody up, and a few dozen are a body`, async (server) => {
      assert.equal(await send(server.port, REX_JSON), 201);
      let livez = Infinity;
      let memory = 0;
      const isEnough = (i: number): boolean =>
        i >= MAX_TRIES || (i >= MIN_TRIES && livez < LONGEST_LIVEZ);
      for (let i = 0; !isEnough(i); i++) {
        const borne = await bear(server, async () => {
          const status = await send(server.port, BLANKS);
          // 400: they came in few enough pieces after all, and are no JSON.
          assert.ok([400, 413].includes(status), `${status}`);
        });
        livez = Math.min(livez, borne.livez);
        memory = Math.max(memory, borne.memory);
      }
      console.log(
        `${name}, ${how}: /livez after ${livez} ms at the most, ` +
          `${Math.round(memory / 1e6)} MB more`,
      );
      assert.ok(livez < LONGEST_LIVEZ, `/livez waits ${livez} ms`);
      assert.ok(memory < MOST_MEMORY, `${memory} bytes more`);
    });
  }
}
