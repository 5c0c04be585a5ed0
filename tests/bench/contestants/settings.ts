// What the bench tells a server, and the server of Deno or Bun itself for fetch functions.
import process from "node:process";

/** An SQLite file for the pets, in place of memory, and how it is used. */
export const { SQLITE_FILE, DRIVER = "node:sqlite" } = process.env;

/** Where to listen: on 127.0.0.1, at this port. */
export const PORT = Number(process.env.PORT);
export const HOST = "127.0.0.1";

/** The API keys that are valid. */
export const KEYS: ReadonlySet<string> = new Set(
  (process.env.PETSTORE_API_KEYS ?? "").split(","),
);

/** Whether a key was sent that is valid. */
export function isAuthorized(authorization: string | null = null): boolean {
  return authorization?.startsWith("Bearer ") === true &&
    KEYS.has(authorization.slice(7));
}

/** Header fields to add to every answer: those that ours has and a framework would not. */
export const FIELDS: Readonly<Record<string, string>> = JSON.parse(
  process.env.FIELDS ?? "{}",
);
export const HAS_FIELDS = Object.keys(FIELDS).length > 0;

type Fetch = (request: Request) => Response | Promise<Response>;

const { Bun } = globalThis as unknown as {
  readonly Bun?: { serve(options: object): unknown };
};

/** Listens with a fetch function; `false` on Node, which has no server for one. */
export function listen(fetch: Fetch): boolean {
  const address = { port: PORT, hostname: HOST };
  if (Bun !== undefined) Bun.serve({ ...address, fetch });
  else if ("Deno" in globalThis) {
    Deno.serve({ ...address, onListen: () => {} }, fetch);
  } else return false;
  return true;
}
