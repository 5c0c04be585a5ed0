/** Judges one clause, within bounds, and says what comes of it. */

import { AssertionError } from "node:assert";
import { inspect } from "node:util";
import type { Answer, OpenService } from "../contract/ask.ts";
import { type Clause, Unseen } from "../contract/clause.ts";

/** How long a clause may take, in ms. */
export const PATIENCE = 10_000;

/** What comes of a clause, and the text that says so. */
export interface Verdict {
  readonly outcome: "holds" | "fails" | "unseen";
  readonly text: string;
}

/** Judges a clause; never rejects. */
export async function judge(
  { sentence, checks, outside }: Clause,
  service: OpenService,
): Promise<Verdict> {
  const seen: (string | Answer)[] = [];
  const end = new AbortController();
  const { signal } = end;
  const timer = setTimeout(
    () => end.abort(new Error(`No end after ${PATIENCE / 1000} s`)),
    PATIENCE,
  );
  const ended = new Promise<never>((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
  });
  const watched: OpenService = {
    ...service,
    fetch: async (request) =>
      bounded(await fetch(request, { signal, redirect: "manual" })),
    seen: (message) => void seen.push(message),
  };
  try {
    if (outside !== undefined) throw new Unseen(outside);
    for (const check of checks) await Promise.race([check(watched), ended]);
    return { outcome: "holds", text: `holds: ${sentence}` };
  } catch (error) {
    if (error instanceof Unseen) {
      const text = `${sentence} (${error.message})`;
      return {
        outcome: "unseen",
        text: `cannot be seen from outside: ${text}`,
      };
    }
    const hide = (text: string) =>
      plain(text.replaceAll("\r\n", "\n"), service.key);
    const shown = [hide(explain(error)), ...lastOf(seen, hide)].join("\n");
    const text = shown.replaceAll("\n", "\n    ");
    return { outcome: "fails", text: `fails: ${sentence}\n    ${text}\n` };
  } finally {
    clearTimeout(timer);
    ended.catch(() => {}); // nobody waits for it any more
    end.abort();
  }
}

/** A response whose body fails if it has more bytes than a hundred of the largest pets. */
function bounded({ body, status, headers }: Response): Response {
  let rest = 2 ** 24;
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      if ((rest -= chunk.length) < 0) throw new Error("The body is too long");
      controller.enqueue(chunk);
    },
  });
  return new Response(body && body.pipeThrough(count), { status, headers });
}

function explain(error: unknown): string {
  if (!(error instanceof AssertionError)) return String(error);
  const { generatedMessage, message, actual, expected } = error;
  // Some runtimes add a comparison to a message; some messages are the answer, which is shown anyway.
  const [words = ""] = generatedMessage ? [] : message.split("\n");
  if (typeof actual === "boolean" && words !== "") return words;
  const [is, not] = [actual, expected].map((value) =>
    inspect(value, { breakLength: Infinity, compact: true })
  );
  const said = /^(?:[[{<]|$)/.test(words) ? "" : `${words}: `;
  return `${said}${is} should be ${not}`;
}

/** The last requests, and what came back; the key is hidden before anything is cut. */
function lastOf(
  seen: readonly (string | Answer)[],
  hide: (text: string) => string,
): readonly string[] {
  const isSent = (message: string | Answer | undefined) =>
    typeof message === "string";
  let start = seen.findLastIndex(isSent);
  while (isSent(seen[start - 1])) start--;
  const shown = seen.slice(Math.max(start, 0)).map((message) => {
    if (typeof message === "string") return quote(hide(message), ">");
    const { status, headers, text } = message;
    const lines = [...headers].map(([name, value]) => `${name}: ${value}\n`);
    return quote(hide(`${status}\n${lines.join("")}\n${text}`), "<");
  });
  return isSent(seen.at(-1)) ? [...shown, "< nothing"] : shown;
}

/** Each line behind a mark; what is long is cut. */
function quote(text: string, mark: string): string {
  const lines = text.trimEnd().split("\n");
  if (lines.length > 40) {
    lines.splice(20, Infinity, `… (${lines.length} lines)`);
  }
  return lines.map((line) => {
    const cut = `${line.slice(0, 100)}… (${line.length} characters)`;
    return `${mark} ${line.length > 300 ? cut : line}`.trimEnd();
  }).join("\n");
}

/** A text without the key, or most of it, and without what could do things to a terminal. */
function plain(text: string, key: string): string {
  for (const form of [key, encodeURIComponent(key)]) {
    if (form.length > 3) {
      text = text.replaceAll(form, "KEY");
      text = text.replaceAll(form.slice(0, -1), "KEY-1");
    } else {
      // Words have a short one by chance.
      text = text.replaceAll(
        /[^\s"',=]+/g,
        (word) => word === form ? "KEY" : word,
      );
    }
  }
  return text.replaceAll(/[^\P{Cc}\n]/gu, encodeURIComponent);
}
