/**
 * The pets of every contestant but ours: in memory, or in an SQLite file. Ids are numbers, as nearly
 * everybody has them.
 *
 * @module
 */

import { DRIVER, SQLITE_FILE } from "./settings.ts";

export type PetStatus = "available" | "pending" | "sold";

export interface NewPet {
  readonly name: string;
  readonly categoryId: number;
  readonly status?: PetStatus | undefined;
}

export interface Pet extends NewPet {
  readonly id: number;
  readonly status: PetStatus;
}

/** Which page of pets is wanted. */
export interface PageQuery {
  readonly limit: number;
  readonly status?: PetStatus | undefined;
  readonly after?: number | undefined;
}

/** What keeps the pets. */
interface Store {
  create(pet: Required<NewPet>): Pet;
  get(id: number): Pet | undefined;
  list(query: PageQuery & { readonly after: number }): readonly Pet[];
}

const store = SQLITE_FILE === undefined
  ? memoryStore()
  : await sqliteStore(SQLITE_FILE);

export function createPet(
  { name, categoryId, status = "available" }: NewPet,
): Pet {
  return store.create({ name, categoryId, status });
}

export function getPet(id: number): Pet | undefined {
  return store.get(id);
}

/** A page, and the `Link` of the next one (RFC 8288); `undefined` on the last one. */
export function listPets({ limit, status, after = 0 }: PageQuery): {
  readonly pets: readonly Pet[];
  readonly link: string | undefined;
} {
  const found = store.list({ limit: limit + 1, status, after });
  if (found.length <= limit) return { pets: found, link: undefined };
  const pets = found.slice(0, limit);
  const only = status === undefined ? "" : `&status=${status}`;
  const query = `limit=${limit}${only}&after=${pets.at(-1)?.id}`;
  return { pets, link: `<?${query}>; rel="next"` };
}

/** Plain objects in an array, and those of each status in another. */
function memoryStore(): Store {
  const all: Pet[] = [];
  const byStatus: Readonly<Record<PetStatus, Pet[]>> = {
    available: [],
    pending: [],
    sold: [],
  };
  return {
    create(newPet) {
      const pet = { id: all.length + 1, ...newPet };
      all.push(pet);
      byStatus[newPet.status].push(pet);
      return pet;
    },
    get: (id) => all[id - 1],
    list({ limit, status, after }) {
      const pets = status === undefined ? all : byStatus[status];
      const start = firstAbove(pets, after);
      return pets.slice(start, start + limit);
    },
  };
}

/** The index of the first of ascending ids that is above `id`. */
function firstAbove(pets: readonly Pet[], id: number): number {
  let low = 0;
  let high = pets.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((pets[middle]?.id ?? Infinity) <= id) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What the drivers have in common. */
interface Database {
  exec(sql: string): unknown;
  prepare(sql: string): {
    get(...values: unknown[]): unknown;
    all(...values: unknown[]): unknown[];
  };
}

async function sqliteStore(path: string): Promise<Store> {
  const { default: Better, DatabaseSync = Better } = await import(DRIVER);
  const db: Database = new DatabaseSync(path);
  db.exec(
    `PRAGMA journal_mode = WAL;
     PRAGMA synchronous = FULL;
     CREATE TABLE IF NOT EXISTS pets (id INTEGER PRIMARY KEY AUTOINCREMENT,
       name TEXT NOT NULL, categoryId INTEGER NOT NULL, status TEXT NOT NULL);
     CREATE INDEX IF NOT EXISTS by_status ON pets (status, id)`,
  );
  const insert = db.prepare(
    "INSERT INTO pets (name, categoryId, status) VALUES (?, ?, ?) RETURNING *",
  );
  const byId = db.prepare("SELECT * FROM pets WHERE id = ?");
  const page = db.prepare("SELECT * FROM pets WHERE id > ? LIMIT ?");
  const pageOf = db.prepare(
    "SELECT * FROM pets WHERE status = ? AND id > ? LIMIT ?",
  );
  return {
    create: ({ name, categoryId, status }) =>
      insert.get(name, categoryId, status) as Pet,
    get: (id) => byId.get(id) as Pet | undefined,
    list: ({ limit, status, after }) =>
      (status === undefined
        ? page.all(after, limit)
        : pageOf.all(status, after, limit)) as Pet[],
  };
}
