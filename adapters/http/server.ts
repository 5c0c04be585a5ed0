/** Types and messages that the HTTP adapters share. Each exports a `serve`. */

import {
  checkFunction,
  checkIntegers,
  checkNames,
  internalError,
  report,
  shown,
  toResponse,
} from "../../core/kit.ts";

/** Settings that every `serve` accepts. */
export interface ServeOptions {
  /** TCP port, 0 to 65535. 0 picks a free one. Default: 8000. */
  readonly port?: number;
  /** Address to listen on. `0.0.0.0` or `::` opens it to the network. Default: `127.0.0.1`. */
  readonly hostname?: string;
  /**
   * Receives errors of the server itself, such as that of a response body that fails, except on Bun
   * 1.4, which reports that itself. What fails in the service goes to the `onError` of
   * `createHandler`. Its own errors are ignored. Default: `console.error`.
   */
  readonly onError?: (error: unknown) => void;
}

/** A server that is listening. */
export interface Server {
  /** The address it listens on. */
  readonly hostname: string;
  /** The TCP port it listens on; never 0. */
  readonly port: number;
  /** Its origin, such as `http://127.0.0.1:8000`, without a slash at the end. */
  readonly url: string;
  /**
   * Stops accepting connections, closes idle ones, and resolves once every request that had arrived
   * is answered in full. Requests pipelined behind another may be dropped. On Deno 2.9, clients
   * that were answered early must first send the rest of their body, or leave. May be called more
   * than once.
   */
  close(): Promise<void>;
}

/**
 * Fills in the defaults.
 *
 * @param others the names of the adapter's own options.
 * @throws {TypeError} if an option is unknown or has the wrong type.
 * @throws {RangeError} if the port is out of range.
 */
export function readServeOptions(
  options: ServeOptions,
  ...others: readonly string[]
): Required<ServeOptions> {
  checkNames(options, ["port", "hostname", "onError", ...others], "serve");
  const { port = 8000, hostname = "127.0.0.1", onError = console.error } =
    options;
  checkIntegers({ port }, 0, 65_535);
  checkHostname(hostname);
  checkFunction(onError, "onError");
  // Node does not accept the brackets that an IPv6 address has in a URL; Deno and Bun do.
  return { port, hostname: hostname.replace(/^\[(.+)\]$/, "$1"), onError };
}

/** @throws {TypeError} if it is not a string, or is empty, which Node takes for every address. */
export function checkHostname(hostname: unknown): void {
  if (typeof hostname === "string" && hostname !== "") return;
  throw new TypeError(
    `Wrong option hostname: it must be a non-empty string, not ${
      shown(hostname)
    }`,
  );
}

/**
 * @param owner the function that `handle` was passed to, for the message.
 * @param others what to do with other fetch functions.
 * @throws {TypeError} if `handle` is not what `createHandler` returns.
 */
export function checkHandler(
  handle: unknown,
  owner: string,
  others: string,
): void {
  // By its member: it may be of another copy of this package.
  const { answer } = Object(handle) as { readonly answer?: unknown };
  if (typeof handle === "function" && typeof answer === "function") return;
  throw new TypeError(
    `Cannot serve this ${typeof handle}: ${owner} accepts only what createHandler(…) returns. ${others}`,
  );
}

/** @throws {TypeError} on another runtime; the message names the entry for that. */
export function checkRuntimeIs(name: "Deno" | "Bun"): void {
  if (name in globalThis) return;
  const other = ["Deno", "Bun"].find((name) => name in globalThis) ?? "Node";
  throw new TypeError(
    `Cannot serve on ${other}: use serve of @petstore/service/${other.toLowerCase()}`,
  );
}

/** Reports an error, and makes the answer to a request whose response cannot be sent. */
export function failed(
  error: unknown,
  onError: (error: unknown) => void,
): Response {
  report(() => onError(error));
  return toResponse(internalError);
}

/** Makes the {@linkcode Server} of an address; calls `close` at most once. */
export function listening(
  { hostname, port }: Pick<Server, "hostname" | "port">,
  close: () => Promise<void>,
): Server {
  let closed: Promise<void> | undefined;
  const url = origin(hostname, port);
  return { hostname, port, url, close: () => closed ??= close() };
}

/** The origin of a server, as a URL that a client on the same machine can use. */
export function origin(hostname: string, port: number): string {
  if (hostname === "0.0.0.0" || hostname === "::") hostname = "localhost";
  const isBare = hostname.includes(":") && !hostname.startsWith("["); // IPv6
  const host = isBare ? `[${hostname}]` : hostname;
  return `http://${host}:${port}`;
}

/** Names and addresses of this machine that no other machine can use. */
export const LOOPBACK: RegExp =
  /^(?:(?:.*\.)?localhost|127\.[\d.]+|\[?::1\]?)$/;

const LISTEN_REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "the address is in use",
  EADDRNOTAVAIL: "this machine does not have that address",
  EACCES: "this user may not use that port",
  ENOTFOUND: "the host is unknown",
  // Bun 1.4. Can go if `Bun.serve` with the hostname 256.1.1.1 throws ENOTFOUND.
  EINVAL: "the host is unknown",
};

/**
 * Explains why a server cannot listen, in the same words on every runtime. Its `cause` is the
 * runtime's error.
 */
export function listenError(
  hostname: string,
  port: number,
  cause: unknown,
): Error {
  const { code, message } = Object(cause) as Partial<
    Error & { readonly code: string }
  >;
  // On Deno 2.9 these errors have no code. Can go if those of `Deno.serve` with the hostnames
  // 256.1.1.1 and "a b" have one.
  const isUnknown = /lookup address|invalid host/.test(String(message));
  const reason = LISTEN_REASONS[isUnknown ? "ENOTFOUND" : String(code)] ??
    message ?? String(cause);
  return new Error(`Cannot listen on ${hostname}:${port}: ${reason}`, {
    cause,
  });
}
