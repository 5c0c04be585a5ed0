/**
 * Finds stores that answer a request before they have read its body, and then take the rest of it
 * for the next request on that connection. Clauses then fail that say nothing of the kind.
 */

import { Buffer } from "node:buffer";
import type { Answer, OpenService } from "../contract/ask.ts";
import { isWhole } from "../contract/hostile_bytes_contract.ts";
import { show } from "./exchange.ts";
import { PetsClient } from "../contract/pets_client.ts";
import { answersIn } from "../contract/raw_http_contract.ts";
import { rawRequest, Wire } from "../contract/wire.ts";

/** Why clauses fail on such a store. */
export const LEAVES_UNREAD =
  "the service leaves the body of an earlier request unread";

/** How long a store must send nothing to count as silent, in ms. */
const QUIET = 2000;

/** The member of a service whose connections the judge can choose: only those without TLS. */
export function connections(base: string): Pick<OpenService, "fetchAlone"> {
  return base.startsWith("http:") ? { fetchAlone } : {};
}

/**
 * Sends a request to an `http:` address on a new connection, and closes it after the answer. Its
 * body has a `Content-Length`, unless it comes in pieces.
 */
async function fetchAlone(
  request: Request,
  { signal }: RequestInit = {},
): Promise<Response> {
  const { method, url } = request;
  const { host, pathname, search } = new URL(url);
  const pieces = await readPieces(request);
  const length = pieces.reduce((sum, { length }) => sum + length, 0);
  const framing = request.body === null
    ? []
    : pieces.length > 1
    ? ["transfer-encoding: chunked"]
    : [`content-length: ${length}`];
  const fields = Array.from(request.headers, (field) => field.join(": "));
  const head = rawRequest(`${method} ${pathname}${search}`, [
    `host: ${host}`,
    ...fields,
    ...framing,
  ]);
  const wire = await Wire.to(url, head);
  const close = () => wire.close();
  signal?.addEventListener("abort", close);
  try {
    for (const piece of pieces) {
      const size = `${piece.length.toString(16)}\r\n`;
      wire.write(pieces.length > 1 ? `${size}${piece}\r\n` : piece);
    }
    if (pieces.length > 1) wire.write("0\r\n\r\n");
    let answer = await wire.answer(method);
    while (answer.status < 200) answer = await wire.answer(method);
    const { status, lines, body } = answer;
    const headers = new Headers(
      lines.map((line) => line.split(/: ?(.*)/, 2) as [string, string]),
    );
    const isEmpty = status === 204 || status === 304;
    const bytes = isEmpty ? null : Buffer.from(body, "latin1");
    return new Response(bytes, { status, headers });
  } finally {
    signal?.removeEventListener("abort", close);
    close();
  }
}

/** Reads a body in the pieces in which it comes, with one character for each byte. */
async function readPieces({ body }: Request): Promise<readonly string[]> {
  const pieces: string[] = [];
  for await (const piece of body ?? []) {
    pieces.push(Buffer.from(piece).toString("latin1"));
  }
  return pieces;
}

/**
 * Sends requests whose bodies a store need not read, each followed by a listing on the same
 * connection, until a listing is not answered with 200.
 *
 * @returns what was sent and received then, as text, or `undefined` if each is, or the connection is closed.
 */
export async function proveUnread(
  service: OpenService,
): Promise<string | undefined> {
  const { base, key } = service;
  const { pathname, host } = new URL(base);
  const client = new PetsClient(service);
  const json = "Content-Type: application/json";
  const withKey = `Authorization: Bearer ${key}`;
  const request = (line: string, fields: readonly string[], body?: string) =>
    rawRequest(line, [`Host: ${host}`, ...fields], body);
  const post = `POST ${pathname}/pets`;
  const body = client.petJson();
  const refused = [
    request(post, [json], body),
    request(post, [json, "Authorization: Bearer wrong"], body),
    request(post, ["Content-Type: text/plain", withKey], body),
    request(post, ["Content-Encoding: gzip", json, withKey], body),
    request(`POST ${pathname}/nothing`, [json, withKey], body),
    request(`PUT ${pathname}/pets`, [json, withKey], body),
    request(`DELETE ${pathname}/pets/1`, [json, withKey], body),
  ];
  const list = request(`GET ${pathname}/pets`, [withKey]);
  for (const sent of refused) {
    const answers = await follow(base, sent, list);
    if (answers === undefined) continue;
    const [first, ...more] = answers;
    return show([sent, ...first ? [first] : [], list, ...more], key);
  }
  return undefined;
}

/** Sends two requests on a connection; returns the answers if the second is a wrong one. */
async function follow(
  base: string,
  first: string,
  second: string,
): Promise<readonly Answer[] | undefined> {
  const wire = await Wire.to(base, first);
  try {
    const before = await wire.until(isWhole, QUIET);
    if (wire.isClosed || before === "") return undefined;
    wire.write(second);
    const all = await wire.until(
      (text) => isWhole(text.slice(before.length)),
      QUIET,
    );
    const answers = answersIn(all);
    const [, next] = answers;
    return next !== undefined && next.status !== 200 ? answers : undefined;
  } finally {
    wire.close();
  }
}
