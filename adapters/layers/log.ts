/** The log: JSON lines, with requests on standard output and faults on standard error. */

import { inspect } from "node:util";
import { type Answer, type Layer, withFields } from "../../core/kit.ts";
import { StorageError } from "../../core/storage.ts";
import { findContexts, SPAN, type Span } from "./tracing.ts";
import { clientAddress } from "./client_address.ts";
import type { Config } from "../standalone/config.ts";
import {
  type Output,
  standardError,
  standardOutput,
} from "../standalone/output.ts";

/**
 * Makes the layer that logs requests and the causes of 500 and 503, and gives each answer an
 * `X-Request-Id`: the client's own if it is 1 to 128 unreserved characters (RFC 3986), otherwise
 * one that is unique across processes and restarts. No line has a key, a body, or a path with an
 * id; with proxies it has the client's address.
 */
export function logLayer(
  { requestLog, proxies }: Pick<Config, "requestLog" | "proxies">,
): Layer {
  const prefix = crypto.randomUUID().replaceAll("-", "").slice(0, 20);
  let count = 0;
  return (service) => async (request, connection, readBody) => {
    const start = performance.now();
    const method = request.method.slice(0, 20);
    const sent = request.headers.get("x-request-id") ?? "";
    const id = /^[A-Za-z0-9._~-]{1,128}$/.test(sent)
      ? sent
      : `${prefix}-${++count}`;
    const client = proxies > 0
      ? clientAddress(request, connection, proxies)
      : undefined;
    const answer = await service(request, connection, readBody);
    const { status, route = null, keyId: key } = answer;
    if ("cause" in answer) logFault(answer.cause, { id, key });
    if (requestLog) {
      const ms = Math.round(1000 * (performance.now() - start)) / 1000;
      const line = { method, route, status, ms, id, key, client };
      writeLine(standardOutput, line);
    }
    return withFields(answer, { "x-request-id": id });
  };
}

/** Logs a fault. If it is a request's, `of` has the id of the request and that of its API key. */
export function logFault(
  cause: unknown,
  of?: { readonly id: string; readonly key: Answer["keyId"] },
): void {
  // Every request may have a storage error, so it is logged without its stack and causes.
  const error = cause instanceof StorageError
    ? `${cause.message} (${cause.kind})`
    : inspect(cause);
  writeLine(standardError, { ...of, error });
}

/** Writes a line with the time and, under OpenTelemetry, the id of the current trace. */
export function writeLine(output: Output, members: object): void {
  const span = findContexts()?.active().getValue<Span>(SPAN);
  // Zeros if the span is not recorded.
  const trace_id = span?.spanContext().traceId.replace(/^0+$/, "") || undefined;
  const line = { time: currentTime(), ...members, trace_id };
  output.write(`${JSON.stringify(line)}\n`);
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
