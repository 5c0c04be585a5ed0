/**
 * The pet store on Deno Deploy: any number of instances, with pets and issued keys in PostgreSQL.
 *
 * Set the entrypoint to this file; in a copy of the pet store's repository, set the install command to
 * `deno install --frozen`. A linked database sets `DATABASE_URL` and `PGSSLMODE`. `BASE_URL` and fixed keys
 * (`PETSTORE_API_KEYS`, as a secret) are optional. You can issue keys from anywhere, with `DATABASE_URL` set.
 *
 * Run it on your machine, after `npm install pg`, with
 * `DENO_SERVE_ADDRESS=tcp:127.0.0.1:8000 DATABASE_URL=postgres://… deno run -A deno_deploy.ts`.
 *
 * @see {@link https://docs.deno.com/deploy/reference/runtime/}
 * @module
 */

import { postgresStorage } from "@petstore/service/postgres";
import {
  apiKeys,
  createHandler,
  type IssuedKeys,
  issuedKeys,
  type PetStorage,
} from "@petstore/service";

interface Database {
  readonly storage: PetStorage;
  readonly keys: IssuedKeys;
}

// Without DATABASE_URL, PGHOST, PGUSER and so on are used.
const {
  DATABASE_URL = "postgres://",
  PETSTORE_API_KEYS,
  BASE_URL = "/v1",
} = Deno.env.toObject();
const fixedKeys = PETSTORE_API_KEYS === undefined
  ? undefined
  : apiKeys(PETSTORE_API_KEYS.split(",").map((key) => key.trim()));
let database: Promise<Database> | undefined;

/** Opens the database when it is first needed, and retries after a failure. */
function open(): Promise<Database> {
  database ??= connect().catch((error) => {
    database = undefined;
    throw error;
  });
  return database;
}

async function connect(): Promise<Database> {
  const storage = await postgresStorage(
    // Each instance has its own connections. A limit in the address comes later and wins.
    DATABASE_URL.replace(/\?|$/, "?connection_limit=3&"),
    // If the database cannot be reached, answer at once: the request can be sent again.
    { openTimeout: 0 },
  );
  return { storage, keys: issuedKeys(storage.apiKeys) };
}

// Opened late, so that an instance without its database still listens and answers with 503.
const storage: PetStorage = {
  create: async (pet, options) => (await open()).storage.create(pet, options),
  get: async (id) => (await open()).storage.get(id),
  list: async (query) => (await open()).storage.list(query),
  ping: async () => (await open()).storage.ping(),
  close: async () => (await database)?.storage.close(),
};

const handle = createHandler({
  storage,
  keys: {
    verify: async (key) =>
      await fixedKeys?.verify(key) || (await open()).keys.verify(key),
  },
  baseUrl: BASE_URL,
});

const server = Deno.serve(handle);
// An instance starts because a request is on its way. If this fails, that request retries.
open().catch((error) => console.error(error));

// Deno Deploy ends an instance 5 s after this signal.
Deno.addSignalListener("SIGINT", async () => {
  await server.shutdown();
  await storage.close().catch((error) => console.error(error));
  Deno.exit();
});
