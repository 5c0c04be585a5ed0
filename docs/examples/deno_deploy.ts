/**
 * The pet store on Deno Deploy: animals and issued keys in PostgreSQL, in any number of instances.
 *
 * The application's entrypoint is `docs/examples/deno_deploy.ts`, its install command
 * `deno install --frozen`. A database that is linked to it sets `DATABASE_URL` and `PGSSLMODE`;
 * `BASE_URL` and fixed keys (`PETSTORE_API_KEYS`, a secret) are optional. Issue keys from anywhere:
 * `DATABASE_URL=postgres://… deno task keys issue "mobile app"`.
 *
 * The same program runs here: `DATABASE_URL=postgres://… deno run -A docs/examples/deno_deploy.ts`.
 *
 * @see {@link https://docs.deno.com/deploy/reference/runtime/}
 * @module
 */

import { postgresStorage } from "../../adapters/postgres/mod.ts";
import {
  apiKeys,
  createHandler,
  type IssuedKeys,
  issuedKeys,
  type PetStorage,
} from "../../mod.ts";

interface Database {
  readonly storage: PetStorage;
  readonly keys: IssuedKeys;
}

// Without DATABASE_URL all is as PGHOST, PGUSER and so on have it.
const {
  DATABASE_URL = "postgres://",
  PETSTORE_API_KEYS,
  BASE_URL = "/v1",
} = Deno.env.toObject();
const fixedKeys = apiKeys(
  PETSTORE_API_KEYS?.split(",").map((key) => key.trim()) ?? [],
);
let database: Promise<Database> | undefined;

/** The database, opened by the first who needs it, and by the next one after that has failed. */
function open(): Promise<Database> {
  database ??= connect().catch((error) => {
    database = undefined;
    throw error;
  });
  return database;
}

async function connect(): Promise<Database> {
  const storage = await postgresStorage(
    // There are many instances, and each has connections of its own. What the address says comes
    // last, and counts.
    DATABASE_URL.replace(/\?|$/, "?connection_limit=3&"),
    // A request is told at once that the database is not there: it can be sent again.
    { openTimeout: 0 },
  );
  return { storage, keys: issuedKeys(storage.apiKeys) };
}

// Opened late, so that an instance listens without its database, and answers in the service's words.
const storage: PetStorage = {
  create: async (pet) => (await open()).storage.create(pet),
  get: async (id) => (await open()).storage.get(id),
  list: async (query) => (await open()).storage.list(query),
  ping: async () => (await open()).storage.ping(),
  close: async () => (await database)?.storage.close(),
};

const handle = createHandler({
  storage,
  keys: {
    verify: async (key) =>
      await fixedKeys.verify(key) || (await open()).keys.verify(key),
  },
  baseUrl: BASE_URL,
});

const server = Deno.serve(handle);
// An instance is started for a request that is on its way. Where this fails, that one tries again.
open().catch((error) => console.error(error));

// Deno Deploy ends an instance 5 s after this signal.
Deno.addSignalListener("SIGINT", async () => {
  await server.shutdown();
  await storage.close().catch((error) => console.error(error));
  Deno.exit();
});
