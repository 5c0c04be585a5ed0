/** What a request is aimed at: its path and its query. */

import { Refusal } from "./refusal.ts";

/** The path and the query of a request as they were sent, still percent-encoded. */
export interface Target {
  /** Begins with `/`; everything before the first `?`. */
  readonly path: string;
  /** Everything after the first `?`; may be empty. */
  readonly query: string;
}

/** The part of a request that says where it goes. */
export interface Addressed {
  readonly url: string;
  readonly headers: Pick<Headers, "get">;
}

// uri-host [ ":" port ], RFC 9110 §7.2 and RFC 3986 §3.2.2, without IPvFuture.
const HOST =
  /^(?:\[[0-9A-Fa-f:.]+\]|(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+)(?::[0-9]*)?$/;

/** The 400 for a `Host` that is no host. */
const malformedHost = new Refusal(
  "bad_request",
  "Cannot read the request: the Host header must be a host name or address, with or without a port",
);
const malformedTarget = new Refusal(
  "bad_request",
  "Cannot read the request: its target must be a path or an http address",
);

/**
 * Makes the function that reads path and query out of `request.url`.
 *
 * Runtimes build that URL from the `Host` header, so a `Host` with a `/` in it would choose the path.
 * It is checked before the URL is looked at (RFC 9112 §3.2 asks for 400). A server sees the same `Host`
 * all day: the last good one is known again.
 */
export function targetParser(): (request: Addressed) => Target | Refusal {
  let knownHost: string | null = null;
  return (request) => {
    const host = request.headers.get("host");
    if (host !== knownHost && host !== null) {
      if (!HOST.test(host)) return malformedHost;
      knownHost = host;
    }
    return splitUrl(readUrl(request));
  };
}

/** Reads path and query out of the URL of one request. */
export function parseTarget(request: Addressed): Target | Refusal {
  return targetParser()(request);
}

function splitUrl(url: string): Target | Refusal {
  const start = pathStart(url);
  if (start < 0) return malformedTarget;

  const fragment = url.indexOf("#", start);
  const end = fragment < 0 ? url.length : fragment;
  const mark = url.indexOf("?", start);
  if (mark < 0 || mark > end) return { path: url.slice(start, end), query: "" };
  return { path: url.slice(start, mark), query: url.slice(mark + 1, end) };
}

/**
 * Where the path begins; -1 if there is none. Without a `Host`, which HTTP/1.0 allows, some runtimes
 * give the path alone.
 */
function pathStart(url: string): number {
  if (url.startsWith("/")) return 0;
  const authority = url.indexOf("://") + 3;
  return authority < 3 ? -1 : url.indexOf("/", authority);
}

/** The request's URL; empty if the runtime cannot make one of the target it was sent. */
function readUrl(request: Addressed): string {
  try {
    return request.url;
  } catch {
    return "";
  }
}
