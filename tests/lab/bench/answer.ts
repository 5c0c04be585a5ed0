/**
 * Compares the answers of servers, because only servers that do the same work are measured.
 */

import { setTimeout as delay } from "node:timers/promises";
import { type Case, RANDOM } from "./cases.ts";

/** Fields that the runtime adds itself, and the one that differs for each request. */
const IGNORED =
  /^(connection|content-length|date|keep-alive|transfer-encoding|vary)$/;

/** Sends the request of a case as soon as the server listens, and returns the answer as text. */
export async function ask(
  port: number,
  work: Case,
  id: number = 1,
): Promise<string> {
  const target = work.target.replace(RANDOM, `${id}`);
  try {
    const response = await fetch(`http://127.0.0.1:${port}${target}`, {
      method: work.body === null ? "GET" : "POST",
      // Otherwise Deno would compress the answer.
      headers: { "accept-encoding": "identity", ...work.fields },
      body: work.body,
    });
    const fields = [...response.headers].filter(([name]) => !IGNORED.test(name))
      .map(([name, value]) => `${name}: ${readField(name, value)}\n`);
    return [response.status, "\n", ...fields, await response.text()].join("");
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    await delay(2); // a server that never listens ends, which ends the bench
    return await ask(port, work, id);
  }
}

/** The part of a field that must be equal: a request id has a number at its end. */
function readField(name: string, value: string): string | undefined {
  if (name === "x-request-id") return value.replace(/^\w{20}-\d+$/, "ID");
  return name === "content-type" ? value.split(";")[0] : value;
}
