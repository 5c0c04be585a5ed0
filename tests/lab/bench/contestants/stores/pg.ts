// PostgreSQL by pg: a named statement is prepared once for each connection.
import pg from "pg";
import type { Pet } from "../pet.ts";
import { SQL, type Store } from "./store.ts";

pg.types.setTypeParser(pg.types.builtins.INT8, Number);

export function open(url: string): Store {
  const pool = new pg.Pool({ connectionString: url, max: 10 });
  async function query(
    name: keyof typeof SQL,
    ...values: unknown[]
  ): Promise<Pet[]> {
    return (await pool.query({ name, text: SQL[name], values })).rows;
  }
  return {
    create: async (...values) => (await query("create", ...values))[0] as Pet,
    get: async (id) => (await query("get", id))[0],
    list: (...values) => query("list", ...values),
    listByStatus: (...values) => query("listByStatus", ...values),
  };
}
