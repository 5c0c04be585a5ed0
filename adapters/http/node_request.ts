/**
 * The `Request` that a fetch function is given on Node.
 *
 * @module
 */

import { delegate } from "./delegate.ts";
import { clientGone, hasBody, nodeBody } from "./node_body.ts";
import { type Exchange, whenGone } from "./node_exchange.ts";
import { lazyHeaders } from "./node_headers.ts";

/**
 * A `Request` over Node's own. Method, URL, header and signal are read where they lie; the real
 * `Request` is made when anything else is asked for, the body included.
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

  clone(): Request {
    return new Request(this.#become().clone(), {
      headers: this.headers,
      signal: this.signal,
    });
  }

  #become(): Request {
    return this.#request ??= this.#makeRequest();
  }

  #makeRequest(): Request {
    const { method, headers } = this;
    // Fetch knows no TRACE; as it has no body, the real request need not know of it either.
    if (method === "TRACE") return new Request(this.#url, { headers });
    if (method === "GET" || method === "HEAD" || !hasBody(this.#exchange.req)) {
      return new Request(this.#url, { method, headers });
    }
    const { req, res, awaitsContinue } = this.#exchange;
    const body = nodeBody(req, () => {
      if (awaitsContinue && !res.headersSent) res.writeContinue();
    });
    this.#exchange.body = body;
    const init: RequestInit & { duplex: "half" } = {
      method,
      headers,
      body: body.stream,
      duplex: "half",
    };
    return new Request(this.#url, init);
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

function goneSignal(exchange: Exchange): AbortSignal {
  const controller = new AbortController();
  whenGone(exchange, () => controller.abort(clientGone()));
  return controller.signal;
}
