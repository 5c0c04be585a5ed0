/**
 * What a server answers, and whether it is what ours does: only a server that does the same work is
 * measured.
 *
 * @module
 */

import { setTimeout as delay } from "node:timers/promises";
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

/** Sends the request of a case, as soon as the server listens. */
export async function ask(port: number, work: Case): Promise<Answer> {
  const { target, key, body } = work;
  const method = body === undefined ? "GET" : "POST";
  // Deno would compress the answer otherwise.
  const headers = new Headers({ "accept-encoding": "identity" });
  if (key !== undefined) headers.set("authorization", `Bearer ${key}`);
  if (body !== undefined) headers.set("content-type", "application/json");
  const url = `http://127.0.0.1:${port}${target}`;
  try {
    const response = await fetch(url, { method, headers, body: body ?? null });
    const all = [...response.headers].filter(([name]) => !IGNORED.test(name));
    const { status } = response;
    const text = await response.text();
    return { status, headers: Object.fromEntries(all), body: text };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    await delay(2); // the end of a server that never listens ends the waiting
    return ask(port, work);
  }
}

/**
 * Compares an answer with ours: the status, and the body and the `Link` or `Location` of a success. Of
 * an Error `code` and `status` count: everyone has a message of their own. All header fields count,
 * unless it is a framework as it is.
 *
 * @throws {Error} that shows both, when they differ.
 */
export function compare(
  { name, kind }: Contestant,
  answer: Answer,
  ours: Answer,
): void {
  const fields = kind === "framework" ? [] : Object.keys(ours.headers);
  const [theirs, expected] = [answer, ours].map((each) =>
    JSON.stringify(judged(each, fields))
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
  const own = body.startsWith("[") ? { link: headers.link } : {};
  return { ...all, ...own, location: headers.location, body };
}
