/** The log: JSON lines, requests on standard output, faults on standard error. */

import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { inspect } from "node:util";
import type { Layer } from "../../core/http/message.ts";
import { StorageError } from "../../core/pets/pet_storage.ts";
import { traceIds } from "./trace_id.ts";

/** What is logged of a request: never a key, a body, or a path with an id. */
export interface RequestLine {
  readonly method: string;
  /** The path as a template, `/v1/pets/{petId}`; absent if there is no such path. */
  readonly route?: string | undefined;
  readonly status: number;
  /** How long the answer took, in ms. */
  readonly ms: number;
  /** The request id, as in the header `X-Request-Id`: unreserved characters of RFC 3986. */
  readonly id: string | undefined;
}

export interface Log {
  request(line: RequestLine): void;
  fault(cause: unknown, id: string | undefined): void;
  /** Writes text for people to standard error. */
  tell(text: string): void;
  /** Settles when all request lines are written, or nobody reads them: then `process.exit` drops the rest. */
  flush(): Promise<void>;
}

/** Makes the layer that logs requests, with the id that stands on their answers. */
export function logLayer(log: Pick<Log, "request" | "fault">): Layer {
  return (service) => async (request, connection) => {
    const start = performance.now();
    const answer = await service(request, connection);
    const { method } = request;
    const { status, route, headers: { "x-request-id": id } } = answer;
    if ("cause" in answer) log.fault(answer.cause, id);
    log.request({ method, route, status, ms: performance.now() - start, id });
    return answer;
  };
}

/** For how long request lines are gathered, to be written at once, in ms. A write costs as much as a request. */
const GATHERING_TIME = 10;
/** If more bytes than this wait for a reader, what comes is dropped. On Deno the server itself waits. */
const MAX_WAITING = 1024 * 1024;
/** How long the end of the process waits for a reader, in ms. */
const PATIENCE = 3000;

/** The log of this process. */
export function createLog({ requests }: { readonly requests: boolean }): Log {
  let held = "";
  let written = Promise.resolve();
  let millisecond = NaN;
  let time = "";
  const traceId = traceIds();

  function writeHeld(): void {
    const text = held;
    held = "";
    if (text !== "") written = write(process.stdout, text) ?? written;
  }

  const tell = (text: string) => void write(process.stderr, text);

  return {
    request({ method, route = null, status, ms, id }) {
      if (!requests) return;
      const trace = traceId();
      if (held === "") setTimeout(writeHeld, GATHERING_TIME);
      if (millisecond !== Date.now()) {
        millisecond = Date.now();
        time = new Date(millisecond).toISOString();
      }
      held += `{"time":"${time}","method":${
        JSON.stringify(method.slice(0, 20))
      },"route":${JSON.stringify(route)},"status":${status},"ms":${
        Math.round(1000 * ms) / 1000
      },"id":"${id}"${trace && `,"trace_id":"${trace}"`}}\n`;
    },
    fault(cause, id) {
      const [time, trace_id] = [new Date(), traceId() || undefined];
      const line = { time, id, trace_id, error: describe(cause) };
      tell(`${JSON.stringify(line)}\n`);
    },
    tell,
    async flush() {
      writeHeld();
      await Promise.race([written, delay(PATIENCE, null, { ref: false })]);
    },
  };
}

function ignore(): void {}

/**
 * Writes text, unless too much waits already. If its reader goes away, the server goes on without it.
 * Streams are touched here first, not at the start: Bun takes 10 ms to make them.
 */
function write(
  stream: NodeJS.WriteStream,
  text: string,
): Promise<void> | undefined {
  if (!stream.listeners("error").includes(ignore)) stream.on("error", ignore);
  if (stream.writableLength > MAX_WAITING) return undefined;
  return new Promise((resolve) => stream.write(text, () => resolve()));
}

/**
 * An error with its stack and causes. For a storage error the message is enough, and while a database is
 * gone there is one for every request.
 */
function describe(cause: unknown): string {
  return cause instanceof StorageError
    ? `${cause.message} (${cause.kind})`
    : inspect(cause);
}
