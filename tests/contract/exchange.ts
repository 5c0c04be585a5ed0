/** Requests as bytes, over a connection of their own, and the answers to them. */

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { Answer, OpenService } from "./ask.ts";
import { Wire } from "./wire.ts";

/** What came back over one connection. */
export interface Exchange {
  /** The answers in full, in order; `100 Continue` and the like are left out. */
  readonly answers: readonly Answer[];
  /** Every byte, one character each. */
  readonly raw: string;
}

/**
 * Sends bytes, one character each, and collects the answers, or what there is when the server closes
 * the connection. Each part goes out when the one before is answered: not every server takes several
 * requests at once. Rejects if neither happens. `end` ends the sending side after the last part.
 */
export async function exchange(
  service: Pick<OpenService, "base" | "seen">,
  parts: readonly string[],
  { end = false } = {},
): Promise<Exchange> {
  const wire = await Wire.to(service.base);
  const answers: Answer[] = [];
  try {
    for (const [i, part] of parts.entries()) {
      service.seen?.(part);
      wire.write(part);
      if (end && i === parts.length - 1) wire.end();
      let answer = await wire.answer(part.split(" ", 1)[0]);
      while (answer.status < 200) answer = await wire.answer();
      const { status, lines, body } = answer;
      assert.ok(status >= 200 && status < 600, wire.received);
      const fields = lines.map((line) => line.split(/: ?(.*)/, 2));
      const headers = new Headers(fields as [string, string][]);
      const text = Buffer.from(body, "latin1").toString("utf8");
      answers.push({ status, headers, text });
    }
  } catch (error) {
    // If an answer is missing, the test will say so.
    if (!wire.isClosed) throw error;
  } finally {
    wire.close();
  }
  for (const answer of answers) service.seen?.(answer);
  return { answers, raw: wire.received };
}
