/** The log: a line of JSON for each request, and for the cause of each 500 and 503. */

import { inspect } from "node:util";
import {
  type Answer,
  checkFunction,
  checkIntegers,
  checkNames,
  isStorageError,
  withFields,
} from "../../core/kit.ts";
import { clientAddress } from "./client_address.ts";
import { placed, type PlacedLayer } from "./order.ts";
import { findContexts, SPAN, type Span } from "./tracing.ts";

/** Settings of {@linkcode logLayer}. */
export interface LogOptions {
  /**
   * Receives the line of a request, without a line end. Its own failures are ignored, and nobody
   * waits for it. `false` logs faults only. Default: `console.log`.
   */
  readonly write?: ((line: string) => unknown) | false;
  /** Receives the line of a fault, as `write` does. Default: `console.error`. */
  readonly writeFault?: (line: string) => unknown;
  /**
   * How many proxies in front add their client's address to `X-Forwarded-For`: a line then has the
   * member `client`, as {@linkcode clientAddress} finds it. Default: none.
   */
  readonly proxies?: number;
}

/**
 * Makes the layer that logs requests and the causes of 500 and 503, and gives each answer an
 * `X-Request-Id`: the client's own if it is 1 to 128 unreserved characters (RFC 3986), otherwise
 * one that is unique across processes and restarts.
 *
 * A line has `time`, `method`, `route` (`null` if none matches), `status`, `ms`, `id`, and, if they
 * are known, `key` (the id of the API key), `client` and `trace_id`. That of a fault has `time`,
 * `id`, `key`, `error` and `trace_id`. No line has a key, a body, or a path with an id. The option
 * `onError` of `createHandler` receives the same causes.
 *
 * @example
 * ```ts
 * import { apiKeys, createHandler, memoryStorage } from "@petstore/service";
 * import { logLayer } from "@petstore/service/layers";
 * import assert from "node:assert/strict";
 *
 * const lines: string[] = [];
 * const handle = createHandler({
 *   storage: memoryStorage(),
 *   keys: apiKeys(["secret"]),
 *   layers: [logLayer({ write: (line) => lines.push(line) })],
 *   onError() {}, // the log has the causes
 * });
 * const headers = { "x-request-id": "7" };
 * await handle(new Request("http://localhost/v1/pets", { headers }));
 * const { time, ms, ...line } = JSON.parse(lines[0] ?? "");
 * assert.deepEqual(line, { method: "GET", route: "/v1/pets", status: 401, id: "7" });
 * ```
 *
 * @throws {TypeError} if an option is unknown or has the wrong type.
 * @throws {RangeError} if `proxies` is negative or not an integer.
 */
export function logLayer(options: LogOptions = {}): PlacedLayer {
  checkNames(options, ["write", "writeFault", "proxies"], "logLayer");
  const {
    write = (line: string) => console.log(line),
    writeFault = (line: string) => console.error(line),
    proxies = 0,
  } = options;
  if (write !== false) checkFunction(write, "write");
  checkFunction(writeFault, "writeFault");
  checkIntegers({ proxies }, 0);
  const prefix = crypto.randomUUID().replaceAll("-", "").slice(0, 20);
  let count = 0;
  return placed("log", (service) => async (request, connection, readBody) => {
    const start = performance.now();
    const method = request.method.slice(0, 20);
    const sent = request.headers.get("x-request-id") ?? "";
    const id = /^[A-Za-z0-9._~-]{1,128}$/.test(sent)
      ? sent
      : `${prefix}-${++count}`;
    const client = proxies > 0
      ? clientAddress(request, connection, { proxies })
      : undefined;
    const answer = await service(request, connection, readBody);
    const { status, route = null, keyId: key } = answer;
    if ("cause" in answer) {
      const { cause } = answer;
      send(() => writeFault(faultLine(cause, { id, key })));
    }
    if (write !== false) {
      const ms = Math.round(1000 * (performance.now() - start)) / 1000;
      const line = { method, route, status, ms, id, key, client };
      send(() => write(logLine(line)));
    }
    return withFields(answer, { "x-request-id": id });
  });
}

/** Writes a line. Whatever goes wrong, the request is answered. */
function send(write: () => unknown): void {
  try {
    const written = write();
    if (written !== undefined) Promise.resolve(written).catch(() => {});
  } catch {
    // There is nowhere else to say so.
  }
}

/**
 * Writes the line of a fault. If it is a request's, `of` has the id of the request and that of its
 * API key.
 */
export function faultLine(
  cause: unknown,
  of?: { readonly id: string; readonly key: Answer["keyId"] },
): string {
  // Every request may have a storage error, so it is logged without its stack and causes.
  const error = isStorageError(cause)
    ? `${cause.message} (${cause.kind})`
    : inspect(cause);
  return logLine({ ...of, error });
}

/** Writes a line with the time and, under OpenTelemetry, the id of the current trace. */
export function logLine(members: object): string {
  const span = findContexts()?.active().getValue<Span>(SPAN);
  // Zeros if the span is not recorded.
  const trace_id = span?.spanContext().traceId.replace(/^0+$/, "") || undefined;
  return JSON.stringify({ time: currentTime(), ...members, trace_id });
}

let millisecond = NaN;
let time = "";

/** Making the text takes longer than the rest of a line, so a millisecond has only one. */
function currentTime(): string {
  if (millisecond !== Date.now()) {
    millisecond = Date.now();
    time = new Date(millisecond).toISOString();
  }
  return time;
}
