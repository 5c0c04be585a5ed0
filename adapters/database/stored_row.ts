/** Rows as every database stores them. Only checked values are stored, so they are not checked again. */

import type { ApiKeyRecord } from "../../core/keys/issued_keys.ts";
import {
  type Pet,
  PET_STATUSES,
  type PetId,
  type PetStatus,
} from "../../core/pets/pet.ts";

/** The stored number of each status: never reassign one. */
export const STATUS_CODE: Readonly<Record<PetStatus, number>> = {
  available: 0,
  pending: 1,
  sold: 2,
};

const STATUS_OF_CODE: readonly PetStatus[] = PET_STATUSES.toSorted(
  (a, b) => STATUS_CODE[a] - STATUS_CODE[b],
);

/** The columns that {@linkcode toPet} reads. */
export const PET_COLUMNS = "id, name, category_id, status";

/** Reads a pet from a row of {@linkcode PET_COLUMNS}. */
export function toPet(row: unknown): Pet {
  type Row = readonly [PetId, string, bigint, bigint | number];
  const [id, name, categoryId, code] = row as Row;
  const status = STATUS_OF_CODE[Number(code)];
  if (status === undefined) {
    throw new RangeError(`Pet ${id} is stored with the unknown status ${code}`);
  }
  return { id, name, categoryId, status };
}

/** The columns that {@linkcode toApiKeyRecord} reads. */
export const API_KEY_COLUMNS = "id, name, created, revoked";

/** Reads the record of an API key from a row of {@linkcode API_KEY_COLUMNS}. */
export function toApiKeyRecord(row: unknown): ApiKeyRecord {
  type Row = readonly [bigint, string, bigint, bigint | null];
  const [id, name, created, revoked] = row as Row;
  const record = { id: Number(id), name, created: new Date(Number(created)) };
  if (revoked === null) return record;
  return { ...record, revoked: new Date(Number(revoked)) };
}

/** A row of an issued API key, times in ms since 1970. */
export interface StoredApiKey {
  readonly id: bigint;
  readonly name: string;
  readonly digest: string;
  readonly created: bigint;
  /** `null` if it is valid. */
  readonly revoked: bigint | null;
}

/** How whole rows of a table are read and written; `plural` is for messages. */
export interface StoredTable<T> {
  readonly name: string;
  readonly plural: string;
  readonly columns: readonly string[];
  /** The types of the columns in PostgreSQL. */
  readonly types: readonly string[];
  readonly toRecord: (row: unknown) => T;
  readonly toRow: (record: T) => readonly (string | bigint | number | null)[];
}

export const PETS: StoredTable<Pet> = {
  name: "pets",
  plural: "pets",
  columns: PET_COLUMNS.split(", "),
  types: ["bigint", "text", "bigint", "smallint"],
  toRecord: toPet,
  toRow: (pet) => [pet.id, pet.name, pet.categoryId, STATUS_CODE[pet.status]],
};

const API_KEY_MEMBERS = ["id", "name", "digest", "created", "revoked"] as const;

export const API_KEYS: StoredTable<StoredApiKey> = {
  name: "api_keys",
  plural: "API keys",
  columns: API_KEY_MEMBERS,
  types: ["bigint", "text", "text", "bigint", "bigint"],
  toRecord: (row) =>
    Object.fromEntries(
      API_KEY_MEMBERS.map((name, index) => [name, (row as unknown[])[index]]),
    ) as unknown as StoredApiKey,
  toRow: (key) => API_KEY_MEMBERS.map((name) => key[name]),
};
