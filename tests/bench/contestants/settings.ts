/**
 * What the bench tells a server.
 *
 * @module
 */

import process from "node:process";

const { env } = process;

/** Where to listen: on 127.0.0.1, at this port. */
export const PORT = Number(env.PORT);
export const HOST = "127.0.0.1";

/** The API keys that are valid. */
export const KEYS: ReadonlySet<string> = new Set(
  (env.PETSTORE_API_KEYS ?? "").split(","),
);

/** Whether a key was sent that is valid. */
export function isAuthorized(authorization: string | null = null): boolean {
  return authorization?.startsWith("Bearer ") === true &&
    KEYS.has(authorization.slice(7));
}

/** Header fields to add to every answer: those that ours has and a framework would not. */
export const FIELDS: Readonly<Record<string, string>> = JSON.parse(
  env.FIELDS ?? "{}",
);
export const HAS_FIELDS = Object.keys(FIELDS).length > 0;

/** An SQLite file for the pets, in place of memory, and how it is used. */
export const { SQLITE_FILE, DRIVER = "node:sqlite" } = env;
