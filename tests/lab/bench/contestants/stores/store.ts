// What each driver has to do, and the SQL that all of them have in common.
import type { Pet, PetStatus } from "../pet.ts";

type Result<T> = T | Promise<T>;

export interface Store {
  create(name: string, categoryId: number, status: PetStatus): Result<Pet>;
  get(id: number): Result<Pet | undefined>;
  /** Pets with an id above `after`, ascending. */
  list(after: number, limit: number): Result<Pet[]>;
  listByStatus(
    status: PetStatus,
    after: number,
    limit: number,
  ): Result<Pet[]>;
}

const PET = 'id, name, category_id AS "categoryId", status';

/** Parameters are `$1`, `$2`, …, which SQLite understands too. */
export const SQL = {
  create:
    `INSERT INTO pets (name, category_id, status) VALUES ($1, $2, $3) RETURNING ${PET}`,
  get: `SELECT ${PET} FROM pets WHERE id = $1`,
  list: `SELECT ${PET} FROM pets WHERE id > $1 ORDER BY id LIMIT $2`,
  listByStatus:
    `SELECT ${PET} FROM pets WHERE status = $1 AND id > $2 ORDER BY id LIMIT $3`,
};
