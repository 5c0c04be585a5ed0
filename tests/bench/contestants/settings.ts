/**
 * What the bench tells a server.
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

/** An SQLite file for the pets, in place of memory. */
export const SQLITE_FILE = process.env.SQLITE_FILE;
