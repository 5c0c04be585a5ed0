/**
 * Rows, as every database stores them: int64 as bigint, a status as a small integer, a time in ms
 * since 1970. Their tables hold nothing else, so what comes out of them needs no check.
 *
 * @module
 */

import type { ApiKeyRecord } from "../../core/keys/issued_keys.ts";
import {
  type Pet,
  PET_STATUSES,
  type PetId,
  type PetStatus,
} from "../../core/pets/pet.ts";

/** The number of each status. Stored animals depend on these: they are never reassigned. */
export const STATUS_CODE = {
  available: 0,
  pending: 1,
  sold: 2,
} as const satisfies Record<PetStatus, number>;

const STATUS_OF_CODE: readonly PetStatus[] = PET_STATUSES.toSorted(
  (a, b) => STATUS_CODE[a] - STATUS_CODE[b],
);

/** The columns of an animal, in the order that {@linkcode toPet} reads them. */
export const PET_COLUMNS = "id, name, category_id, status";

/** The animal of a row of {@linkcode PET_COLUMNS}. */
export function toPet(row: unknown): Pet {
  const [id, name, categoryId, code] = row as readonly [
    PetId,
    string,
    bigint,
    bigint | number,
  ];
  const status = STATUS_OF_CODE[Number(code)];
  if (status === undefined) {
    throw new RangeError(`Pet ${id} is stored with the unknown status ${code}`);
  }
  return { id, name, categoryId, status };
}

/** The columns of the record of an API key, in the order that {@linkcode toApiKeyRecord} reads them. */
export const API_KEY_COLUMNS = "id, name, created, revoked";

/** The record of a row of {@linkcode API_KEY_COLUMNS}. */
export function toApiKeyRecord(row: unknown): ApiKeyRecord {
  const [id, name, created, revoked] = row as readonly [
    bigint,
    string,
    bigint,
    bigint | null,
  ];
  const record = {
    id: Number(id),
    name,
    created: new Date(Number(created)),
  };
  return revoked === null
    ? record
    : { ...record, revoked: new Date(Number(revoked)) };
}

/** All that is kept of an issued API key, times in ms since 1970. */
export interface StoredApiKey {
  readonly id: bigint;
  readonly name: string;
  readonly digest: string;
  readonly created: bigint;
  /** `null` where it is valid. */
  readonly revoked: bigint | null;
}

/** A table, and how a whole row of it is read and written. */
export interface StoredTable<T> {
  readonly name: string;
  /** The name of its records in messages. */
  readonly plural: string;
  /** All its columns. */
  readonly columns: readonly string[];
  /** Their types, where a database asks for them. */
  readonly types: readonly string[];
  readonly toRecord: (row: unknown) => T;
  readonly toRow: (record: T) => readonly (string | bigint | number | null)[];
}

/** The table of animals. */
export const PETS: StoredTable<Pet> = {
  name: "pets",
  plural: "pets",
  columns: PET_COLUMNS.split(", "),
  types: ["bigint", "text", "bigint", "smallint"],
  toRecord: toPet,
  toRow: ({ id, name, categoryId, status }) => [
    id,
    name,
    categoryId,
    STATUS_CODE[status],
  ],
};

/** The table of issued API keys. */
export const API_KEYS: StoredTable<StoredApiKey> = {
  name: "api_keys",
  plural: "API keys",
  columns: ["id", "name", "digest", "created", "revoked"],
  types: ["bigint", "text", "text", "bigint", "bigint"],
  toRecord(row) {
    const [id, name, digest, created, revoked] = row as readonly [
      bigint,
      string,
      string,
      bigint,
      bigint | null,
    ];
    return { id, name, digest, created, revoked };
  },
  toRow: ({ id, name, digest, created, revoked }) => [
    id,
    name,
    digest,
    created,
    revoked,
  ],
};
