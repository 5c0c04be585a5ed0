// The load generator, a process of its own on Bun, whichever runtime is measured: requests over raw
// keep-alive connections, one under way on each. On two cores it sends as many as wrk, for as much
// processor time.
import { Buffer } from "node:buffer";
import { RANDOM } from "../cases.ts";
import { serveTasks } from "../reply.ts";
import type { Count, LoadTask } from "./load.ts";

/** A connection of Bun's; `data` is the time of its request in ms, and the answer so far. */
interface Socket {
  data: { sentAt: number; rest: Buffer | undefined };
  write(bytes: Uint8Array): number;
  end(): void;
}

const { Bun } = globalThis as unknown as {
  readonly Bun: { connect(options: object): Promise<unknown> };
};

/** Latencies are counted in steps of 10 µs, up to 2 s. */
const STEPS_PER_MS = 100;
const LAST_CHUNK = Buffer.from("\r\n0\r\n\r\n");

function send(task: LoadTask): Promise<Count> {
  const { connections, status, seconds, pets } = task;
  const [before = "", after] = task.request.split(RANDOM);
  const constant = Buffer.from(task.request);
  let random = 1; // the same ids for every server
  const expected = Buffer.from(`HTTP/1.1 ${status} `);
  const latencies = new Uint32Array(2000 * STEPS_PER_MS);
  const start = performance.now();
  let [sent, answers, open] = [0, 0, connections];
  /** The length of an answer to a constant request that was found to be whole: most others have the same. */
  let wholeLength = -1;
  const { promise, resolve, reject } = Promise.withResolvers<Count>();

  function next(socket: Socket): void {
    const now = performance.now();
    if (now - start >= seconds * 1000) return socket.end();
    const request = after === undefined
      ? constant
      : Buffer.from(`${before}${1 + nextRandom() % pets}${after}`);
    sent++;
    socket.data.sentAt = now;
    if (socket.write(request) < request.length) reject(new Error("No buffer"));
  }

  /** The generator of Lewis, Goodman and Miller (1969), from 1 to 2^31 - 2. */
  function nextRandom(): number {
    return random = random * 16807 % 2147483647;
  }

  function receive(socket: Socket, chunk: Buffer): void {
    const { rest, sentAt } = socket.data;
    const answer = rest === undefined ? chunk : Buffer.concat([rest, chunk]);
    socket.data.rest = isWhole(answer) ? undefined : Buffer.from(answer);
    if (socket.data.rest !== undefined) return;
    if (expected.compare(answer, 0, expected.length) !== 0) {
      return reject(new Error(`The answer is not ${status}: ${answer}`));
    }
    answers++;
    const step = (performance.now() - sentAt) * STEPS_PER_MS | 0;
    (latencies[Math.min(step, latencies.length - 1)] as number)++;
    next(socket);
  }

  function isWhole(answer: Buffer): boolean {
    if (answer.length === wholeLength) return true;
    const head = answer.indexOf("\r\n\r\n");
    if (head < 0) return false;
    const fields = answer.toString("latin1", 0, head);
    const length = /\r\ncontent-length: *(\d+)/i.exec(fields)?.[1];
    if (length === undefined) return answer.subarray(-7).equals(LAST_CHUNK);
    const isWhole = answer.length === head + 4 + Number(length);
    if (isWhole && after === undefined) wholeLength = answer.length;
    return isWhole;
  }

  function close(): void {
    if (--open > 0) return;
    if (answers < sent) reject(new Error("The server closed a connection"));
    function percentile(share: number): number {
      let left = share * answers;
      return latencies.findIndex((n) => (left -= n) <= 0) / STEPS_PER_MS;
    }
    resolve({
      requests: answers,
      seconds: (performance.now() - start) / 1000,
      p50: percentile(0.5),
      p99: percentile(0.99),
    });
  }

  const handlers = {
    open(socket: Socket) {
      socket.data = { sentAt: 0, rest: undefined };
      next(socket);
    },
    data: receive,
    close,
    error: (_socket: Socket, cause: Error) => reject(cause),
  };
  for (let i = 0; i < connections; i++) {
    const port = task.ports[i % task.ports.length];
    Bun.connect({ hostname: "127.0.0.1", port, socket: handlers })
      .catch(reject);
  }
  return promise;
}

await serveTasks(send);
