// SQLite by the runtime's own driver: `bun:sqlite`, or else `node:sqlite`.
import type { DatabaseSync } from "node:sqlite";
import type { Pet } from "../pet.ts";
import { SQL, type Store } from "./store.ts";

const isBun = "Bun" in globalThis;
const driver = await import(isBun ? "bun:sqlite" : "node:sqlite");

export function open(url: string): Store {
  const path = url.replace("sqlite:", "");
  // What is used of it, bun:sqlite has too.
  const db: DatabaseSync = new (isBun ? driver.Database : driver.DatabaseSync)(
    path,
  );
  db.exec("PRAGMA journal_mode = WAL");
  db.exec("PRAGMA synchronous = FULL");
  const prepare = (sql: string) => db.prepare(sql.replaceAll(/\$\d/g, "?"));
  const create = prepare(SQL.create);
  const get = prepare(SQL.get);
  const list = prepare(SQL.list);
  const listByStatus = prepare(SQL.listByStatus);
  return {
    create: (...values) => create.get(...values) as unknown as Pet,
    get: (id) => (get.get(id) ?? undefined) as Pet | undefined,
    list: (...values) => list.all(...values) as unknown as Pet[],
    listByStatus: (...values) =>
      listByStatus.all(...values) as unknown as Pet[],
  };
}
