/**
 * What a server answers, and whether it is what ours does: only who does the same work is measured.
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

/** Fields that the runtime adds itself. */
const OF_THE_RUNTIME = [
  "connection",
  "content-length",
  "date",
  "keep-alive",
  "transfer-encoding",
  "vary",
];

/** Sends the request of a case once. */
export async function ask(
  origin: string,
  { method, target, headers, body }: Case,
): Promise<Answer> {
  const response = await fetch(origin + target, {
    method,
    // Deno would compress the answer otherwise.
    headers: { ...headers, "accept-encoding": "identity" },
    body: body ?? null,
  });
  const { status } = response;
  const fields = [...response.headers].filter(([name]) =>
    !OF_THE_RUNTIME.includes(name)
  );
  return {
    status,
    headers: Object.fromEntries(fields),
    body: await response.text(),
  };
}

/**
 * Compares an answer with ours: status, `Link` and `Location` where the case succeeds, and the body. Of
 * an Error the body's `code` and `status` count: its `message` is each one's own.
 *
 * @throws {Error} that shows both, where they differ.
 */
export function compare(name: string, answer: Answer, ours: Answer): void {
  const [theirs, expected] = [judged(answer), judged(ours)];
  if (theirs === expected) return;
  throw new Error(
    `${name} does not answer as ours does.\nOurs:\n${expected}\n${name}:\n${theirs}`,
  );
}

/**
 * Looks whether an answer has all fields of our header, but for the parameters of its media type.
 *
 * @throws {Error} that names one that is missing or another.
 */
export function compareFields(
  name: string,
  { headers }: Answer,
  ours: Answer,
): void {
  for (const [field, expected] of Object.entries(ours.headers)) {
    const value = headers[field];
    if (value === expected) continue;
    if (field === "content-type" && value?.startsWith(expected)) continue;
    throw new Error(`${name} answers with ${field}: ${value}, not ${expected}`);
  }
}

function judged({ status, headers, body }: Answer): string {
  if (status >= 400) return `${status} ${judgedError(body)}`;
  // The Link of a single animal says that the operation is deprecated: others have no such thing.
  const link = body.startsWith("[") ? headers.link : undefined;
  const { location } = headers;
  return [status, `link: ${link}`, `location: ${location}`, body].join("\n");
}

function judgedError(body: string): string {
  try {
    const { code, message, status, ...rest } = JSON.parse(body);
    return JSON.stringify({ code, message: typeof message, status, ...rest });
  } catch {
    return `not JSON: ${body}`;
  }
}
