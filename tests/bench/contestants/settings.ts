/**
 * What the bench tells a server, and what it asks of it: importing this answers each line of standard
 * input with the processor time of the process so far, and ends the process with that input.
 *
 * @module
 */

import process from "node:process";

/** Where to listen: on 127.0.0.1, at this port. */
export const PORT = Number(process.env.PORT);
export const HOST = "127.0.0.1";

/** The API keys that are valid. */
export const KEYS: ReadonlySet<string> = new Set(
  (process.env.PETSTORE_API_KEYS ?? "").split(","),
);

/** Header fields to add to every answer: those that ours has and a framework would not. */
export const FIELDS: Readonly<Record<string, string>> = JSON.parse(
  process.env.FIELDS ?? "{}",
);
export const HAS_FIELDS = Object.keys(FIELDS).length > 0;

process.stdin.on("data", () => {
  process.stderr.write(`cpu ${JSON.stringify(process.cpuUsage())}\n`);
});
process.stdin.on("end", () => process.exit());
