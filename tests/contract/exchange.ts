/**
 * A client that sends bytes as they are, over a connection of its own, and reads what comes back.
 *
 * @module
 */

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { connect } from "node:net";
import type { Answer } from "./ask.ts";

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

const DEADLINE = 8_000;

/**
 * Sends bytes over a new connection, one character each, and collects the answers, or what there is
 * when the server closes it. Each part goes out when the one before is answered: not every server
 * takes several requests at once. Rejects where nothing ends it, or what comes is no HTTP.
 */
export function exchange(
  port: number,
  parts: readonly string[],
  options: ExchangeOptions = {},
): Promise<Exchange> {
  const { methods = parts.map(firstWord), end = false } = options;
  const left = parts.map((part) => Buffer.from(part, "latin1"));
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let raw = "";
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`No end after ${DEADLINE} ms: ${JSON.stringify(raw)}`));
    }, DEADLINE);
    const settle = (act: () => void): void => {
      clearTimeout(timer);
      socket.destroy();
      act();
    };
    const send = (): void => {
      const part = left.shift();
      if (part !== undefined) socket.write(part);
      if (end && left.length === 0) socket.end();
    };
    const look = (isClosed: boolean): void => {
      try {
        const { answers, rest } = parseAnswers(raw, methods);
        if (isClosed || answers.length === methods.length) {
          settle(() => resolve({ answers, raw }));
        } else if (rest === "") send();
      } catch (cause) {
        settle(() => reject(cause));
      }
    };
    socket.on("connect", send);
    socket.on("data", (data) => {
      raw += data.toString("latin1");
      look(false);
    });
    // A reset is a close as well; where an answer is missing, the test will say so.
    socket.on("error", () => look(true));
    socket.on("close", () => look(true));
  });
}

function firstWord(text: string): string {
  return text.split(" ", 1)[0] ?? "";
}

/** Reads as many answers as are there in full (RFC 9112 §6.3), and what is left. */
function parseAnswers(
  raw: string,
  methods: readonly string[],
): { readonly answers: readonly Answer[]; readonly rest: string } {
  const answers: Answer[] = [];
  let rest = raw;
  while (answers.length < methods.length) {
    const headEnd = rest.indexOf("\r\n\r\n");
    if (headEnd < 0) break;
    const [statusLine = "", ...lines] = rest.slice(0, headEnd).split("\r\n");
    const [, digits] = /^HTTP\/1\.[01] ([1-5][0-9][0-9])(?: .*)?$/.exec(
      statusLine,
    ) ?? [];
    assert.ok(digits !== undefined, `No status line: ${statusLine}`);
    const status = Number(digits);
    const headers = new Headers();
    for (const line of lines) {
      const colon = line.indexOf(":");
      headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
    }
    const after = rest.slice(headEnd + 4);
    if (status < 200) {
      rest = after;
      continue;
    }
    const isEmpty = methods[answers.length] === "HEAD" || status === 204;
    const content = isEmpty ? [0, ""] as const : readContent(after, headers);
    if (content === undefined) break;
    const [end, text] = content;
    answers.push({
      status,
      headers,
      text: Buffer.from(text, "latin1").toString("utf8"),
    });
    rest = after.slice(end);
  }
  return { answers, rest };
}

/** Where the content ends, and the content; `undefined` where it is not all there. */
function readContent(
  rest: string,
  headers: Headers,
): readonly [end: number, text: string] | undefined {
  if (headers.get("transfer-encoding") === "chunked") {
    let text = "";
    for (let at = 0;;) {
      const lineEnd = rest.indexOf("\r\n", at);
      if (lineEnd < 0) return undefined;
      const size = parseInt(rest.slice(at, lineEnd), 16);
      assert.ok(size >= 0, "a chunk has a size");
      const next = lineEnd + 2 + size + 2;
      if (rest.length < next) return undefined;
      text += rest.slice(lineEnd + 2, next - 2);
      at = next;
      if (size === 0) return [at, text];
    }
  }
  const length = Number(headers.get("content-length") ?? 0);
  return rest.length < length ? undefined : [length, rest.slice(0, length)];
}
