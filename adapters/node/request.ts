/**
 * The `Request` that a fetch function is given on Node.
 *
 * @module
 */

import { delegate } from "./delegate.ts";
import { clientGone, hasBody, nodeBody, type StreamBody } from "./body.ts";
import { type Exchange, whenGone } from "./exchange.ts";
import { lazyHeaders } from "./headers.ts";
import { wholeBody } from "./whole_body.ts";

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
    return this.#request === undefined && !this.#isWhole()
      ? this.#body()?.stream ?? null
      : this.#become().body;
  }

  get bodyUsed(): boolean {
    return this.#request === undefined
      ? this.#exchange.body?.isUsed() ?? false
      : this.#request.bodyUsed;
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    if (this.#request !== undefined || this.#exchange.body !== undefined) {
      return this.#become().arrayBuffer();
    }
    if (!this.#hasBody()) return Promise.resolve(new ArrayBuffer(0));
    const body = wholeBody(this.#exchange.req, () => this.#continue());
    this.#exchange.body = body;
    return body.bytes;
  }

  clone(): Request {
    return new Request(this.#become().clone(), {
      headers: this.headers,
      signal: this.signal,
    });
  }

  #become(): Request {
    if (this.#request !== undefined) return this.#request;
    const { method, headers } = this;
    const { body } = this.#exchange;
    const isLocked = body !== undefined && "stream" in body &&
      body.stream.locked;
    if (!this.bodyUsed && !isLocked) {
      return this.#request = this.#makeRequest();
    }
    const used = usedRequest(this.#url, { method, headers });
    // A stream that someone else reads stays the body of this one.
    return this.#isWhole() ? this.#request = used : used;
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
  #body(): StreamBody | undefined {
    const { body } = this.#exchange;
    if (body !== undefined && "stream" in body) return body;
    if (!this.#hasBody()) return undefined;
    return this.#exchange.body = nodeBody(
      this.#exchange.req,
      () => this.#continue(),
    );
  }

  /** Whether the body was asked for in one piece. */
  #isWhole(): boolean {
    const { body } = this.#exchange;
    return body !== undefined && "bytes" in body;
  }

  #hasBody(): boolean {
    const { method } = this;
    return method !== "GET" && method !== "HEAD" && method !== "TRACE" &&
      hasBody(this.#exchange.req);
  }

  #continue(): void {
    const { res, awaitsContinue } = this.#exchange;
    if (awaitsContinue && !res.headersSent) res.writeContinue();
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
