// What both frameworks share beside the contract: settings, the API key, header fields and the log.
import { randomUUID } from "node:crypto";
import process from "node:process";

/** Where to listen: on 127.0.0.1, at this port. */
export const PORT = Number(process.env.PORT);
export const HOST = "127.0.0.1";

/** The API keys that are valid. */
export const KEYS: ReadonlySet<string> = new Set(
  (process.env.PETSTORE_API_KEYS ?? "").split(","),
);

/** The header fields of every answer; beside them an `X-Request-Id`. */
export const FIELDS = {
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
};
/** The header fields of a deprecated operation. */
export const DEPRECATED = {
  sunset: "Thu, 05 Dec 2030 00:00:00 GMT",
  deprecation: "@1764892800",
  link: '<../pets>; rel="successor-version"',
};

const prefix = randomUUID().replaceAll("-", "").slice(12);
let requests = 0;

export function requestId(): string {
  return `${prefix}-${++requests}`;
}

/** What is logged of a request; `ms` is how long the answer took. */
export interface RequestLine {
  readonly method: string;
  readonly route: string | undefined;
  readonly status: number;
  readonly ms: number;
  readonly id: string;
}

let lines = "";

/** Logs a request. Lines of 10 ms are written at once, as ours are: one write each would cost more. */
export function log(line: RequestLine): void {
  if (lines === "") setTimeout(writeLines, 10);
  const time = new Date().toISOString();
  lines += `${JSON.stringify({ time, ...line })}\n`;
}

function writeLines(): void {
  process.stdout.write(lines);
  lines = "";
}
