// The pets of every contestant but ours: in memory, or in an SQLite file. Ids are numbers, as nearly
// everybody has them.
import type { DatabaseSync } from "node:sqlite";
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

export interface PageQuery {
  readonly limit: number;
  readonly status?: PetStatus | undefined;
  readonly after?: number | undefined;
}

/** A page, and the `Link` of the next one (RFC 8288) when there are more. */
export interface Page {
  readonly pets: readonly Pet[];
  readonly link?: string;
}

interface Store {
  create(pet: NewPet & { readonly status: PetStatus }): Pet;
  get(id: number): Pet | undefined;
  list(query: PageQuery & { readonly after: number }): Pet[];
}

const store = SQLITE_FILE === undefined
  ? memoryStore()
  : await sqliteStore(SQLITE_FILE);

export function create({ name, categoryId, status }: NewPet): Pet {
  return store.create({ name, categoryId, status: status ?? "available" });
}

export function get(id: number): Pet | undefined {
  return store.get(id);
}

export function list({ limit, status, after = 0 }: PageQuery): Page {
  const pets = store.list({ limit: limit + 1, status, after });
  if (pets.length <= limit) return { pets };
  pets.pop();
  const only = status === undefined ? "" : `&status=${status}`;
  const query = `limit=${limit}${only}&after=${pets.at(-1)?.id}`;
  return { pets, link: `<?${query}>; rel="next"` };
}

/** Plain objects in an array, and those of each status in another. */
function memoryStore(): Store {
  const all: Pet[] = [];
  const byStatus: Record<PetStatus, Pet[]> = {
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
      let [low, high] = [0, pets.length]; // ids ascend
      while (low < high) {
        const middle = (low + high) >>> 1;
        if ((pets[middle]?.id ?? Infinity) <= after) low = middle + 1;
        else high = middle;
      }
      return pets.slice(low, low + limit);
    },
  };
}

async function sqliteStore(path: string): Promise<Store> {
  const driver = await import(DRIVER);
  // better-sqlite3 has the same methods.
  const db: DatabaseSync = new (driver.DatabaseSync ?? driver.default)(path);
  db.exec(
    `PRAGMA journal_mode = WAL;
     PRAGMA synchronous = FULL;
     CREATE TABLE IF NOT EXISTS pets (id INTEGER PRIMARY KEY AUTOINCREMENT,
       name TEXT NOT NULL, categoryId INTEGER NOT NULL, status TEXT NOT NULL)`,
  );
  const insert = db.prepare(
    "INSERT INTO pets (name, categoryId, status) VALUES (?, ?, ?) RETURNING *",
  );
  const byId = db.prepare("SELECT * FROM pets WHERE id = ?");
  const page = db.prepare(
    "SELECT * FROM pets WHERE id > ? AND ? IN (status, '') LIMIT ?",
  );
  return {
    create: ({ name, categoryId, status }) =>
      insert.get(name, categoryId, status) as unknown as Pet,
    get: (id) => byId.get(id) as Pet | undefined,
    list: ({ limit, status, after }) =>
      page.all(after, status ?? "", limit) as unknown as Pet[],
  };
}
