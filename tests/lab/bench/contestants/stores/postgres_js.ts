// PostgreSQL by postgres.js, which prepares each text once for each connection, and sends statements one
// after another without waiting.
import postgres from "postgres";
import type { Pet } from "../pet.ts";
import { SQL, type Store } from "./store.ts";

const INT8 = 20;

export function open(url: string): Store {
  const sql = postgres(url, {
    max: 10,
    types: {
      int8: { to: INT8, from: [INT8], parse: Number, serialize: String },
    },
  });
  async function query(
    name: keyof typeof SQL,
    ...values: (string | number)[]
  ): Promise<Pet[]> {
    return await sql.unsafe<Pet[]>(SQL[name], values, { prepare: true });
  }
  return {
    create: async (...values) => (await query("create", ...values))[0] as Pet,
    get: async (id) => (await query("get", id))[0],
    list: (...values) => query("list", ...values),
    listByStatus: (...values) => query("listByStatus", ...values),
  };
}
