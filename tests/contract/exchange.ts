/** Requests as bytes, over a connection of their own, and the answers to them. @module */

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

/** What is not plain from what is sent. */
export interface ExchangeOptions {
  /** The method of each request; one answer is awaited for each. Default: the first word of each part. */
  readonly methods?: readonly string[];
  /** Whether to end the sending side after the last part. Default: no. */
  readonly end?: boolean;
}

/**
 * Sends bytes, one character each, and collects the answers, or what there is when the server closes
 * the connection. Each part goes out when the one before is answered: not every server takes several
 * requests at once. Rejects if neither happens.
 */
export async function exchange(
  service: Pick<OpenService, "base" | "seen">,
  parts: readonly string[],
  options: ExchangeOptions = {},
): Promise<Exchange> {
  const { methods = parts.map(firstWord), end = false } = options;
  const wire = await Wire.to(service.base);
  const answers: Answer[] = [];
  try {
    for (let i = 0; answers.length < methods.length; i++) {
      wire.write(parts[i] ?? "");
      if (i < parts.length) service.seen?.(parts[i] ?? "");
      if (end && i === parts.length - 1) wire.end();
      const { status, lines, body } = await wire.answer(
        methods[answers.length],
      );
      assert.ok(status >= 100 && status < 600, wire.received);
      if (status < 200) continue;
      const fields = lines.map((line) => line.split(/: ?(.*)/, 2));
      const text = Buffer.from(body, "latin1").toString("utf8");
      answers.push({
        status,
        headers: new Headers(fields as [string, string][]),
        text,
      });
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

function firstWord(text: string): string {
  return text.split(" ", 1)[0] ?? "";
}
