/** The log: JSON lines, with requests on standard output and faults on standard error. */

import { inspect } from "node:util";
import {
  type Answer,
  type Layer,
  withFields,
} from "../../core/http/message.ts";
import { StorageError } from "../../core/pets/pet_storage.ts";
import { findContexts, SPAN, type Span } from "../../core/trace.ts";
import { clientAddress } from "./client_address.ts";
import { standardError, standardOutput } from "./output.ts";

/** The log line of a request: never a key, a body, or a path with an id. */
export interface RequestLine extends Pick<Answer, "route" | "status"> {
  readonly method: string;
  /** How long the answer took, in ms. */
  readonly ms: number;
  /** The request id, as in the header `X-Request-Id`: unreserved characters of RFC 3986. */
  readonly id: string;
  /** The id of the API key. */
  readonly key?: Answer["keyId"];
  /** The client's address, if there are proxies. */
  readonly client?: string;
}

export interface Log {
  request(line: RequestLine): void;
  /** @param of the request's id, and the id of its API key. */
  fault(cause: unknown, of?: Pick<RequestLine, "id" | "key">): void;
  /** Writes text for people to standard error. Resolves once it is written, which may be never. */
  tell(text: string): Promise<void>;
}

/**
 * Makes the layer that logs requests, and gives each answer an `X-Request-Id`: the client's own if
 * it is 1 to 128 unreserved characters, otherwise one that is unique across processes and restarts.
 *
 * @param proxies how many are in front; if there are any, the client's address is logged.
 */
export function logLayer(
  log: Pick<Log, "request" | "fault">,
  proxies: number,
): Layer {
  const prefix = crypto.randomUUID().replaceAll("-", "").slice(0, 20);
  let count = 0;
  return (service) => async (request, connection, readBody) => {
    const start = performance.now();
    const { method } = request;
    const sent = request.headers.get("x-request-id") ?? "";
    const id = /^[A-Za-z0-9._~-]{1,128}$/.test(sent)
      ? sent
      : `${prefix}-${++count}`;
    const client = proxies > 0 &&
      { client: clientAddress(request, connection, proxies) };
    const answer = await service(request, connection, readBody);
    const { status, route, keyId: key } = answer;
    if ("cause" in answer) log.fault(answer.cause, { id, key });
    const ms = performance.now() - start;
    log.request({ method, route, status, ms, id, key, ...client });
    return withFields(answer, { "x-request-id": id });
  };
}

export function createLog({ requests }: { readonly requests: boolean }): Log {
  let millisecond = NaN;
  let time = "";
  const contexts = findContexts();
  /** The id of the current trace. */
  const traceId = () =>
    contexts?.active().getValue<Span>(SPAN)?.spanContext().traceId
      .replace(/^0+$/, "") || undefined;

  return {
    request({ method, route = null, status, ms, id, key, client }) {
      if (!requests) return;
      if (millisecond !== Date.now()) {
        millisecond = Date.now();
        time = new Date(millisecond).toISOString();
      }
      const line = {
        time,
        method: method.slice(0, 20),
        route,
        status,
        ms: Math.round(1000 * ms) / 1000,
        id,
        key,
        client,
        trace_id: traceId(),
      };
      standardOutput.write(`${JSON.stringify(line)}\n`);
    },
    fault(cause, of) {
      const time = new Date();
      // Every request may have a storage error, so it is logged without its stack and causes.
      const error = cause instanceof StorageError
        ? `${cause.message} (${cause.kind})`
        : inspect(cause);
      const line = { time, ...of, trace_id: traceId(), error };
      standardError.write(`${JSON.stringify(line)}\n`);
    },
    tell: (text) => standardError.write(text),
  };
}
