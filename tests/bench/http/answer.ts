/**
 * What a server answers, and whether ours does too: only who does the same work is measured.
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
  const { target, fields, body } = work;
  try {
    const response = await fetch(`http://127.0.0.1:${port}${target}`, {
      method: body === null ? "GET" : "POST",
      // Deno would compress the answer otherwise.
      headers: { "accept-encoding": "identity", ...fields },
      body,
    });
    const all = [...response.headers].filter(([name]) => !IGNORED.test(name));
    const headers = Object.fromEntries(all);
    return { status: response.status, headers, body: await response.text() };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    await delay(2); // a server that never listens ends, which ends the bench
    return ask(port, work);
  }
}

/**
 * Throws when an answer differs from ours: in its status, media type, `Link` and `Location`, or in its body,
 * but for the message of an Error. Unless it is a framework as it is, all header fields count.
 */
export function compare(
  { name, kind }: Contestant,
  answer: Answer,
  ours: Answer,
): void {
  const fields = kind === "framework" ? [] : Object.keys(ours.headers);
  const [theirs, expected] = [answer, ours].map((each) => {
    const { status, headers, body } = each;
    const counted = ["location", body.startsWith("[") ? "link" : "", ...fields];
    return JSON.stringify([
      status,
      headers["content-type"]?.split(";")[0],
      counted.filter((name) => name !== "content-type")
        .map((name) => [name, headers[name]]),
      status < 400 ? body : { ...JSON.parse(body), message: "" },
    ]);
  });
  if (theirs === expected) return;
  throw new Error(`${name} answers\n${theirs}\nand ours\n${expected}`);
}
