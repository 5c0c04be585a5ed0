/** The faults that a tester can cause. */

/**
 * The value of a header field that names a time: so many seconds after the answer begins, as a
 * number (`in`) or as a date, rounded up (`date`), the two forms of `Retry-After` (RFC 9110
 * §10.2.3).
 */
export type FaultTime = { readonly in: number } | { readonly date: number };

/** The answer that a fault sends instead of the true one, or how it changes the true one. */
export interface FaultAnswer {
  /** 200 to 599. If it is omitted, the true answer is sent, with `headers` changed. */
  readonly status?: number;
  /**
   * Header fields. In a text `{other}` is replaced by the origin of another host, such as
   * `http://localhost:8080`. `null` removes a field that would otherwise be there, except for
   * `Date`.
   */
  readonly headers?: Readonly<Record<string, string | FaultTime | null>>;
  /**
   * The exact body, without the contract's header fields. If it is omitted, an error of the
   * contract gets its Error body and fields. Any other status needs a body, except for 204, 205 and
   * 304, which cannot have one.
   */
  readonly body?: string;
}

/** A value that a request must have: this one, any (`true`), or none (`false`). */
export type Wanted = string | boolean;

/** The requests that a fault applies to. They must match each member that is given. */
export interface FaultWhen {
  /** Such as `POST`. Only if it is `OPTIONS`, the fault applies to a browser's preflight. */
  readonly method?: string;
  /** A path of the service, without a query, or a template such as `/v1/pets/{petId}`. */
  readonly path?: string;
  /** Query parameters, decoded: `{"after":true}` is any page but the first. */
  readonly query?: Readonly<Record<string, Wanted>>;
  /** Header fields, by name in any case: `{"idempotency-key":false}`. */
  readonly headers?: Readonly<Record<string, Wanted>>;
  /** The API key. */
  readonly key?: string;
}

/**
 * What goes wrong, and for which requests. It has one of `answer`, `lose`, `cut`, `stall` and
 * `drip`, or `delay`, or both.
 */
export interface Fault {
  /**
   * The requests that it applies to. Default: any of an operation with a valid key, so none that is
   * answered 401, 405 or 404 for its path, no `HEAD`, `OPTIONS`, or request for the document.
   */
  readonly when?: FaultWhen;
  /** How many requests it applies to. Default: one. */
  readonly times?: number | "always";
  /**
   * Delay before the answer begins, after the work, in ms: 0 to 2147483647. It replaces the
   * sandbox's own.
   */
  readonly delay?: number;
  /** Sends this answer instead of the service's, or changes the header fields of the service's. */
  readonly answer?: FaultAnswer;
  /**
   * If true, the request is carried out before `answer` is sent or the answer is lost. Default:
   * false.
   */
  readonly work?: boolean;
  /** Closes the connection without an answer. */
  readonly lose?: true;
  /**
   * Breaks off the true answer after this many bytes of its body. A body that is not longer is sent
   * whole, although the journal has the fault.
   */
  readonly cut?: number;
  /**
   * Sends the true answer up to this many bytes of its body and then no more, but leaves the
   * connection open. A body that is not longer is sent whole, although the journal has the fault.
   */
  readonly stall?: number;
  /** Sends the body of the true answer at this many bytes per second: 1 or more. */
  readonly drip?: number;
  /**
   * How a client learns the length of a body that is cut, stalls or drips: from `Content-Length`,
   * from `chunked`, or because the connection closes, as in HTTP/1.0 (RFC 9112 §6.3). A client
   * cannot notice a cut with `close`. Default: `length`.
   */
  readonly framing?: Framing;
  /** If true, the connection of `lose` or `cut` is reset (TCP RST), not closed. */
  readonly reset?: boolean;
}

/** How the length of a body is known. */
export type Framing = "length" | "chunked" | "close";
