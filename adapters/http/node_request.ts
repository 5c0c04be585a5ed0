/**
 * The `Request` that a fetch function is given on Node.
 *
 * @module
 */

import { delegate } from "./delegate.ts";
import { clientGone, hasBody, type NodeBody, nodeBody } from "./node_body.ts";
import { type Exchange, whenGone } from "./node_exchange.ts";
import { lazyHeaders } from "./node_headers.ts";

/**
 * A `Request` over Node's own. Method, URL, header, body and signal are read where they lie; the real
 * `Request` is made when anything else is asked for.
 */
class LazyRequest {
  readonly #exchange: Exchange;
  readonly #url: string;
  #headers: Headers | undefined;
  #signal: AbortSignal | undefined;
  #request: Request | undefined;

  constructor(exchange: Exchange, url: string) {
    this.#exchange = exchange;
    this.#url = url;
  }

  get method(): string {
    return this.#exchange.req.method ?? "GET";
  }

  get url(): string {
    return this.#url;
  }

  get headers(): Headers {
    return this.#headers ??= lazyHeaders(this.#exchange.req.rawHeaders);
  }

  get signal(): AbortSignal {
    return this.#signal ??= goneSignal(this.#exchange);
  }

  get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    // The real request may have given it to a clone, and have another.
    return this.#request === undefined
      ? this.#body()?.stream ?? null
      : this.#request.body;
  }

  get bodyUsed(): boolean {
    return this.#request === undefined
      ? this.#exchange.body?.isUsed() ?? false
      : this.#request.bodyUsed;
  }

  clone(): Request {
    return new Request(this.#become().clone(), {
      headers: this.headers,
      signal: this.signal,
    });
  }

  #become(): Request {
    const { method, headers } = this;
    if (
      this.#request === undefined &&
      (this.bodyUsed || this.#exchange.body?.stream.locked)
    ) {
      return usedRequest(this.#url, { method, headers });
    }
    return this.#request ??= this.#makeRequest();
  }

  #makeRequest(): Request {
    const { method, headers } = this;
    // Fetch knows no TRACE; as it has no body, the real request need not know of it either.
    if (method === "TRACE") return new Request(this.#url, { headers });
    const body = this.#body();
    if (body === undefined) return new Request(this.#url, { method, headers });
    const init: RequestInit & { duplex: "half" } = {
      method,
      headers,
      body: body.stream,
      duplex: "half",
    };
    return new Request(this.#url, init);
  }

  /** The body, the same one every time; `undefined` where there is none. */
  #body(): NodeBody | undefined {
    const { method } = this;
    const { req, res, awaitsContinue } = this.#exchange;
    if (
      method === "GET" || method === "HEAD" || method === "TRACE" ||
      !hasBody(req)
    ) {
      return undefined;
    }
    return this.#exchange.body ??= nodeBody(req, () => {
      if (awaitsContinue && !res.headersSent) res.writeContinue();
    });
  }

  static {
    delegate(
      LazyRequest.prototype,
      Request.prototype,
      (self) => (self as LazyRequest).#become(),
    );
  }
}

/** The `Request` of an exchange. Making it costs next to nothing. */
export function nodeRequest(exchange: Exchange, url: string): Request {
  // What the class does not declare, it has from delegate().
  return new LazyRequest(exchange, url) as unknown as Request;
}

/** A `Request` whose body was read, or is being read, by someone else: it has no other to give. */
function usedRequest(url: string, init: RequestInit): Request {
  const request = new Request(url, { ...init, body: "used" });
  request.arrayBuffer().catch(() => {});
  return request;
}

function goneSignal(exchange: Exchange): AbortSignal {
  const controller = new AbortController();
  whenGone(exchange, () => controller.abort(clientGone()));
  return controller.signal;
}
