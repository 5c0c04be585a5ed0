// The load generator, a separate process on Bun, whichever runtime is measured: requests over raw
// keep-alive connections, one under way on each. On two cores it sends as many as wrk, for as much
// processor time.
import { Buffer } from "node:buffer";
import { RANDOM } from "../cases.ts";
import { serveTasks } from "../reply.ts";
import type { Count, LoadTask } from "./load.ts";

/** A connection of Bun's; `data` is when its request was due in ms, and the answer so far. */
interface Socket {
  data: { dueAt: number; rest: Buffer | undefined };
  write(bytes: Uint8Array): number;
  end(): void;
}

const { Bun } = globalThis as unknown as {
  readonly Bun: { connect(options: object): Promise<Socket> };
};

/** Latencies are counted in steps of 10 µs, up to 2 s. */
const STEPS_PER_MS = 100;
const LAST_CHUNK = Buffer.from("\r\n0\r\n\r\n");

async function send(task: LoadTask): Promise<Count> {
  const { ports, connections, rate, pets = 1, requests = Infinity } = task;
  const [before = "", after] = task.request.split(RANDOM);
  const constant = Buffer.from(task.request);
  const latencies = new Uint32Array(2000 * STEPS_PER_MS);
  const statuses: Record<number, number> = {};
  /** The connections that wait for a request, and the requests that wait for a connection. */
  const idle: Socket[] = [];
  const waiting: number[] = [];
  let [ids, times] = [1, 1]; // the same ids, at the same times, for every server
  let [sent, answers, underWay, counted] = [0, 0, 0, 0];
  /**
   * The length of an answer to a constant request that was found to be whole: most others have the
   * same.
   */
  let wholeLength = -1;
  let [begin, end] = [0, Infinity];
  const { promise, resolve, reject } = Promise.withResolvers<Count>();

  /** The generator of Lewis, Goodman and Miller (1969), from 1 to 2^31 - 2. */
  function nextRandom(last: number): number {
    return last * 16807 % 2147483647;
  }

  function ask(socket: Socket, dueAt: number): void {
    ids = nextRandom(ids);
    const request = after === undefined
      ? constant
      : Buffer.from(`${before}${1 + ids % pets}${after}`);
    sent++;
    underWay++;
    socket.data.dueAt = dueAt;
    if (socket.write(request) < request.length) reject(new Error("No buffer"));
  }

  function receive(socket: Socket, chunk: Buffer): void {
    const { rest, dueAt } = socket.data;
    const answer = rest === undefined ? chunk : Buffer.concat([rest, chunk]);
    socket.data.rest = isWhole(answer) ? undefined : Buffer.from(answer);
    if (socket.data.rest !== undefined) return;
    const status = Number(answer.toString("latin1", 9, 12));
    if (!task.statuses.includes(status)) {
      return reject(new Error(`The answer is not ${task.statuses}: ${answer}`));
    }
    const now = performance.now();
    answers++;
    underWay--;
    if (now >= begin) {
      counted++;
      countLatency(now - dueAt);
      if (now < end) statuses[status] = (statuses[status] ?? 0) + 1;
    }
    const isOver = now >= end || sent >= requests;
    if (isOver) return finish(now);
    const next = rate === undefined ? now : waiting.shift();
    if (next === undefined) idle.push(socket);
    else ask(socket, next);
  }

  function countLatency(ms: number): void {
    const step = Math.min(ms * STEPS_PER_MS | 0, latencies.length - 1);
    (latencies[step] as number)++;
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

  /** Sends what is due, until the end. */
  function keepPace(rate: number, dueAt: number): void {
    const now = performance.now();
    if (now >= end) return finish(now);
    while (dueAt <= now) {
      waiting.push(dueAt);
      times = nextRandom(times);
      dueAt -= 1000 / rate * Math.log(times / 2147483647);
    }
    while (waiting.length > 0 && idle.length > 0) {
      ask(idle.pop() as Socket, waiting.shift() as number);
    }
    if (task.pause === undefined) setImmediate(keepPace, rate, dueAt);
    else setTimeout(keepPace, task.pause, rate, dueAt);
  }

  function finish(now: number): void {
    if (underWay > 0) return;
    // One that was never sent has waited at least until now.
    for (const dueAt of waiting) countLatency(now - dueAt);
    const all = counted + waiting.length;
    function percentile(share: number): number {
      let left = share * all;
      return latencies.findIndex((n) => (left -= n) <= 0) / STEPS_PER_MS;
    }
    const seconds = (now - begin) / 1000;
    const [p50, p99] = [percentile(0.5), percentile(0.99)];
    resolve({ requests: counted, seconds, p50, p99, statuses });
  }

  let isOver = false;
  const socket = {
    data: receive,
    close: () => isOver || reject(new Error("The server closed a connection")),
    error: (_socket: Socket, cause: Error) => reject(cause),
  };
  const sockets: Socket[] = [];
  try {
    for (let i = 0; i < connections; i++) {
      const port = ports[i % ports.length];
      const data = { dueAt: 0, rest: undefined };
      const options = { hostname: "127.0.0.1", port, socket, data };
      sockets.push(await Bun.connect(options));
    }
    const now = performance.now();
    begin = now + 1000 * (task.warmUp ?? 0);
    end = begin + 1000 * task.seconds;
    if (rate !== undefined) {
      idle.push(...sockets);
      keepPace(rate, now);
    } else {
      for (const socket of sockets) if (sent < requests) ask(socket, now);
    }
    return await promise;
  } finally {
    isOver = true;
    for (const socket of sockets) socket.end();
  }
}

await serveTasks(send);
