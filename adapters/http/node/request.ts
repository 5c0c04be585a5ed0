/** A request on Node: the part of it that the service reads, or a real `Request`. */

import type { ServiceRequest } from "../../../core/http/message.ts";
import {
  clientGone,
  hasBody,
  isBodyUsed,
  nodeBody,
  wholeBody,
} from "./body.ts";
import { type Exchange, whenGone } from "./exchange.ts";
import { findField } from "./headers.ts";

/** The request of an exchange, for the service. */
export class NodeRequest implements ServiceRequest {
  readonly url: string;
  readonly headers: ServiceRequest["headers"];
  readonly #exchange: Exchange;

  constructor(exchange: Exchange, url: string) {
    this.url = url;
    // To build a `Headers` takes 20 times as long as to look up a field.
    const { rawHeaders } = exchange.req;
    this.headers = { get: (name) => findField(rawHeaders, name) };
    this.#exchange = exchange;
  }

  get method(): string {
    return String(this.#exchange.req.method);
  }

  get bodyUsed(): boolean {
    return isBodyUsed(this.#exchange.req);
  }

  get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    return openBody(this.#exchange);
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    const { req } = this.#exchange;
    if (!hasBody(req)) return Promise.resolve(new ArrayBuffer(0));
    const body = wholeBody(req, () => sendContinue(this.#exchange));
    this.#exchange.body = body;
    return body.bytes;
  }
}

/** The request of an exchange as a `Request`, for a foreign fetch function. */
export function toRequest(exchange: Exchange, url: string): Request {
  const { req } = exchange;
  const method = String(req.method);
  const headers = new Headers();
  for (let i = 0; i < req.rawHeaders.length; i += 2) {
    const name = String(req.rawHeaders[i]);
    // HTTP/2 has pseudo-header fields such as `:path`.
    if (!name.startsWith(":")) {
      headers.append(name, String(req.rawHeaders[i + 1]));
    }
  }
  // A `Request` cannot be made of a TRACE (Fetch, "forbidden method"); it has no body.
  if (/^(?:TRACE|TRACK)$/i.test(method)) {
    const request = new Request(url, { headers });
    return Object.defineProperty(request, "method", { value: method });
  }
  const controller = new AbortController();
  whenGone(exchange, () => controller.abort(clientGone()));
  const init: RequestInit & { readonly duplex: "half" } = {
    method,
    headers,
    body: openBody(exchange),
    signal: controller.signal,
    // Fetch asks for it if the body is a stream; not in the type (microsoft/TypeScript-DOM-lib-generator#1483).
    duplex: "half",
  };
  const request = new Request(url, init);
  // It makes `bodyUsed` true: the body is not empty but gone. How it ended before changes nothing.
  if (isBodyUsed(req)) request.body?.cancel().catch(() => {});
  return request;
}

function openBody(
  exchange: Exchange,
): ReadableStream<Uint8Array<ArrayBuffer>> | null {
  const { req } = exchange;
  if (!hasBody(req)) return null;
  const earlier = exchange.body?.stream;
  if (earlier !== undefined) return earlier;
  const body = nodeBody(req, () => sendContinue(exchange));
  exchange.body = body;
  return body.stream;
}

function sendContinue({ res, awaitsContinue }: Exchange): void {
  if (awaitsContinue && !res.headersSent) res.writeContinue();
}
