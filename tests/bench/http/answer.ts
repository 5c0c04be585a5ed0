/**
 * What a server answers, and whether it is what ours does: only a server that does the same work is
 * measured.
 *
 * @module
 */

import type { Case } from "./cases.ts";

/** An answer, as far as it is looked at. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Fields that the runtime adds itself, and the one that is new for each request. */
const IGNORED = new Set([
  "connection",
  "content-length",
  "date",
  "keep-alive",
  "transfer-encoding",
  "vary",
  "x-request-id",
]);

/** Sends the request of a case once. */
export async function ask(
  port: number,
  { target, key, body }: Case,
): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${port}${target}`, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      "accept-encoding": "identity", // Deno would compress the answer otherwise
      ...key === undefined ? {} : { authorization: `Bearer ${key}` },
      ...body === undefined ? {} : { "content-type": "application/json" },
    },
    body: body ?? null,
  });
  const { status } = response;
  const headers = Object.fromEntries(
    [...response.headers].filter(([name]) => !IGNORED.has(name)),
  );
  return { status, headers, body: await response.text() };
}

/**
 * Compares an answer with ours: the status, and the body and the `Link` or `Location` of a success. Of
 * an Error `code` and `status` count: everyone has a message of their own.
 *
 * @throws {Error} that shows both, when they differ.
 */
export function compare(name: string, answer: Answer, ours: Answer): void {
  const [theirs, expected] = [judged(answer), judged(ours)];
  if (theirs === expected) return;
  throw new Error(`${name} answers\n${theirs}\nand ours\n${expected}`);
}

/**
 * Checks that an answer has all header fields of ours.
 *
 * @throws {Error} that names one that is missing or different.
 */
export function compareFields(
  name: string,
  { headers }: Answer,
  ours: Answer,
): void {
  for (const [field, expected] of Object.entries(ours.headers)) {
    const value = headers[field];
    const isLike = field === "content-type" && value?.startsWith(expected);
    if (value === expected || isLike) continue;
    throw new Error(`${name} answers with ${field}: ${value}, not ${expected}`);
  }
}

function judged({ status, headers, body }: Answer): string {
  if (status < 400) {
    // The Link of a single pet says that the operation is deprecated: frameworks have no such thing.
    const link = body.startsWith("[") ? headers.link : undefined;
    return JSON.stringify({ status, link, at: headers.location, body });
  }
  const { message, ...rest } = JSON.parse(body);
  return JSON.stringify({ ...rest, message: typeof message });
}
