/**
 * Makes pets and keys from rows. Only checked values are stored, so only the number of a status is
 * checked again.
 */

import type {
  ApiKeyRecord,
  Pet,
  PetId,
  PetStatus,
} from "../../core/storage.ts";

/** The stored number of each status: never reassign one. */
export const STATUS_CODE: Readonly<Record<PetStatus, number>> = {
  available: 0,
  pending: 1,
  sold: 2,
};

const STATUSES: readonly PetStatus[] = ["available", "pending", "sold"];

/** The columns that {@linkcode toPet} reads, in its order. */
export const PET_COLUMNS = "id, name, category_id, status";

/** Makes a pet from a row of {@linkcode PET_COLUMNS}. Frozen, because callers may share it. */
export function toPet(row: unknown): Pet {
  type Row = readonly [PetId, string, bigint, bigint | number];
  const [id, name, categoryId, code] = row as Row;
  const status = STATUSES[Number(code)];
  if (status === undefined) {
    throw new RangeError(
      `Cannot read pet ${id}: its stored status ${code} is unknown`,
    );
  }
  return Object.freeze({ id, name, categoryId, status });
}

/**
 * Returns what `work` throws, so that an invalid row fails its own operation and not the whole
 * group.
 */
export function orError<T>(work: () => T): T | Error {
  try {
    return work();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** The columns that {@linkcode toApiKeyRecord} reads. */
export const API_KEY_COLUMNS = "id, name, created, revoked, expires, last_used";

/** Makes the record of an API key from a row of {@linkcode API_KEY_COLUMNS}. */
export function toApiKeyRecord(row: unknown): ApiKeyRecord {
  type Time = bigint | number | null;
  type Row = readonly [bigint, string, bigint, Time, Time, Time];
  const [id, name, created, ...times] = row as Row;
  const [revoked, expires, lastUsed] = times.map((time) =>
    time === null ? undefined : new Date(Number(time))
  );
  return {
    id: Number(id),
    name,
    created: new Date(Number(created)),
    ...revoked && { revoked },
    ...expires && { expires },
    ...lastUsed && { lastUsed },
  };
}
