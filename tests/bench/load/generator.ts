/**
 * The load generator, a process of its own on Bun, whichever runtime is measured: requests over raw
 * keep-alive connections, one under way on each. On two cores it does as much a second as wrk, for as
 * much processor time.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { serveTasks } from "../reply.ts";
import type { Count, LoadTask } from "./load.ts";

/** A connection, as far as Bun's is used here. */
interface Socket {
  data: Exchange;
  write(bytes: Uint8Array): number;
  end(): void;
}

/** The request under way on a connection. */
interface Exchange {
  /** When it was sent, in ms. */
  sentAt: number;
  /** The answer so far; `undefined` while it fits in one chunk. */
  chunks: Buffer | undefined;
}

interface BunRuntime {
  connect(options: {
    readonly hostname: string;
    readonly port: number;
    readonly socket: {
      open(socket: Socket): void;
      data(socket: Socket, chunk: Buffer): void;
      close(): void;
      error(socket: Socket, cause: Error): void;
    };
  }): Promise<unknown>;
}

const { Bun } = globalThis as unknown as { readonly Bun: BunRuntime };

/** Latencies are counted in steps of 10 µs, up to 2 s. */
const STEPS_PER_MS = 100;
const STEPS = 2000 * STEPS_PER_MS;
const HEAD_END = "\r\n\r\n";

function send(task: LoadTask): Promise<Count> {
  const { port, connections, status, seconds = Infinity, count = Infinity } =
    task;
  const requests = task.requests.map((text) => Buffer.from(text));
  const expected = Buffer.from(`HTTP/1.1 ${status} `);
  const latencies = new Uint32Array(STEPS);
  const start = performance.now();
  let [sent, answers, open] = [0, 0, connections];
  /** Answers of this length, in one chunk, were found to be whole before. */
  let knownLength = -1;

  const { promise, resolve, reject } = Promise.withResolvers<Count>();

  function next(socket: Socket): void {
    const now = performance.now();
    if (sent >= count || now - start >= seconds * 1000) return socket.end();
    const request = requests[sent++ % requests.length] ?? Buffer.of();
    socket.data.sentAt = now;
    if (socket.write(request) === request.length) return;
    reject(new Error("A request did not fit in the buffer of its connection"));
  }

  function receive(socket: Socket, chunk: Buffer): void {
    const exchange = socket.data;
    let answer = chunk;
    if (exchange.chunks !== undefined) {
      answer = Buffer.concat([exchange.chunks, chunk]);
      exchange.chunks = undefined;
    }
    if (answer.length < expected.length || !isWhole(answer)) {
      exchange.chunks = Buffer.from(answer);
      return;
    }
    if (expected.compare(answer, 0, expected.length) !== 0) {
      reject(new Error(`Not ${status}: ${answer}`));
      return socket.end();
    }
    answers++;
    const step = (performance.now() - exchange.sentAt) * STEPS_PER_MS | 0;
    latencies[Math.min(step, STEPS - 1)]++;
    next(socket);
  }

  function isWhole(answer: Buffer): boolean {
    if (answer.length === knownLength) return true;
    const head = answer.indexOf(HEAD_END);
    if (head < 0) return false;
    const fields = answer.latin1Slice(0, head);
    const length = /\r\ncontent-length: *(\d+)/i.exec(fields)?.[1];
    if (length === undefined) {
      return answer.subarray(-7).equals(Buffer.from("\r\n0\r\n\r\n"));
    }
    const whole = head + HEAD_END.length + Number(length);
    if (answer.length > whole) reject(new Error(`Too much: ${answer}`));
    if (answer.length === whole) knownLength = whole;
    return answer.length === whole;
  }

  function percentile(share: number): number {
    let passed = 0;
    return latencies.findIndex((many) => (passed += many) >= share * answers) /
      STEPS_PER_MS;
  }

  function close(): void {
    if (--open > 0) return;
    if (answers < sent) reject(new Error("The server closed a connection"));
    const time = (performance.now() - start) / 1000;
    const [p50, p99] = [percentile(0.5), percentile(0.99)];
    resolve({ requests: answers, seconds: time, p50, p99 });
  }

  const handlers = {
    open(socket: Socket) {
      socket.data = { sentAt: 0, chunks: undefined };
      next(socket);
    },
    data: receive,
    close,
    error: (_socket: Socket, cause: Error) => reject(cause),
  };
  for (let i = 0; i < connections; i++) {
    Bun.connect({ hostname: "127.0.0.1", port, socket: handlers })
      .catch(reject);
  }
  return promise;
}

await serveTasks((task: LoadTask) =>
  send(task).catch((cause: Error) => ({ error: cause.message }))
);
