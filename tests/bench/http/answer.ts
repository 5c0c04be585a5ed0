/**
 * What a server answers, and whether it is what ours does: only a server that does the same work is
 * measured.
 *
 * @module
 */

import type { Case } from "./cases.ts";
import type { Contestant } from "./contestants.ts";

/** An answer, as far as it is looked at. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Fields that the runtime adds itself, and the one that differs for each request. */
const IGNORED =
  /^(connection|content-length|date|keep-alive|transfer-encoding|vary|x-request-id)$/;

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
  const fields = [...response.headers].filter(([name]) => !IGNORED.test(name));
  const headers = Object.fromEntries(fields);
  return { status: response.status, headers, body: await response.text() };
}

/**
 * Compares an answer with ours: the status, and the body and the `Link` or `Location` of a success. Of
 * an Error `code` and `status` count: everyone has a message of their own. All header fields count
 * unless it is a framework as it is.
 *
 * @throws {Error} that shows both, when they differ.
 */
export function compare(
  { name, kind }: Contestant,
  answer: Answer,
  ours: Answer,
): void {
  const hasFields = kind !== "framework";
  const [theirs, expected] = [answer, ours].map((each) =>
    JSON.stringify(judged(each, hasFields ? Object.keys(ours.headers) : []))
  );
  if (theirs === expected) return;
  throw new Error(`${name} answers\n${theirs}\nand ours\n${expected}`);
}

function judged(
  { status, headers, body }: Answer,
  fields: readonly string[],
): unknown {
  const type = headers["content-type"]?.split(";")[0];
  const seen = fields.map((name) => [name, headers[name]]);
  const all = { status, ...Object.fromEntries(seen), "content-type": type };
  if (status >= 400) return { ...all, ...JSON.parse(body), message: "" };
  // The Link of a single pet says that the operation is deprecated: frameworks have no such thing.
  const link = body.startsWith("[") ? headers.link : undefined;
  return { ...all, link, location: headers.location, body };
}
