/** A body in pieces as small as can be: it costs the server little time and memory. */
import assert from "node:assert/strict";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { median } from "../bench/figures.ts";
import {
  assertNoLeak,
  memoryAtRest,
  timeOfRequest,
  untilAtRest,
  WATCHED,
} from "./use.ts";
import { testsOn } from "../../support/standalone.ts";
import { findRuntimes } from "../../support/runtime.ts";
import { REX_JSON } from "../../support/pets.ts";
import { turns } from "../../support/time.ts";
import { rawRequest, statusOf, WITH_KEY } from "../../support/wire.ts";

/** The head of a create whose body has this field. */
const headOf = (field: string): string =>
  rawRequest("POST /v1/pets", [WITH_KEY, field]);
/** Below the limit of 64 KiB. */
const PIECES = 65_000;
const BLANKS = " ".repeat(PIECES);
const BLANK_CHUNKS = "1\r\n \r\n".repeat(PIECES);
/** The most processor time that such a body takes: that of so many requests. */
const MOST_REQUESTS = 5000;
/** The most memory that the server may have at rest after them, in proportion to before. */
const MOST_MEMORY = 3.5;

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
    if (i % 16 === 0) await turns(1); // this process reads the answer meanwhile
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

for (const runtime of findRuntimes()) {
  const { name } = runtime;
  const onServer = { test: testsOn(runtime, { env: WATCHED }) };
  const ways: readonly (readonly [string, Send])[] = [
    ["chunks", sendChunks],
    ["writes", sendWrites],
    // The servers of Bun and Node speak no HTTP/2.
    ...(name === "deno" ? [["DATA frames", sendFrames] as const] : []),
  ];
  for (const [how, send] of ways) {
    onServer.test(`${PIECES} ${how} of one byte cost little, and a few dozen are a body`, async (server) => {
      assert.equal(await send(server.port, REX_JSON), 201);
      const request = await timeOfRequest(server);
      const before = await memoryAtRest(server, runtime);
      const times: number[] = [];
      const readings = await assertNoLeak(async () => {
        const start = server.processorTime();
        const status = await send(server.port, BLANKS);
        // 400: they came in few enough pieces after all, and are no JSON.
        assert.ok([400, 413].includes(status), `${status}`);
        await untilAtRest(server);
        times.push((server.processorTime() - start) / request);
        return await memoryAtRest(server, runtime);
      });
      const time = Math.round(median(times));
      const memory = Math.max(...readings) / before;
      console.log(
        `${name}, ${how}: as long as ${time} requests, ` +
          `${memory.toFixed(1)} times the memory`,
      );
      assert.ok(time < MOST_REQUESTS, `as long as ${time} requests`);
      assert.ok(memory < MOST_MEMORY, `${memory} times the memory`);
    });
  }
}
