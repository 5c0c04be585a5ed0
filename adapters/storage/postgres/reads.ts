/** Reads of pets and API keys in PostgreSQL: those that arrive together share a statement. */

import { MAX_LIMIT } from "../../../core/kit.ts";
import { type PageRequest, rowsToRead, toPage } from "../../../core/storage.ts";
import { FIND } from "../api_keys.ts";
import { grouped } from "../grouped.ts";
import type { GroupStorage } from "../group_storage.ts";
import type { ReadLimits } from "../grouped_pets.ts";
import {
  API_KEY_COLUMNS,
  orError,
  PET_COLUMNS,
  STATUS_CODE,
  toPet,
} from "../stored_row.ts";
import type { PostgresConnections } from "./connections.ts";
import { prepared, type Row } from "./statement.ts";

/** Selects the pets of a status, after an id, in the order of the index. */
const ofStatus = (code: string, after: string) =>
  `(status, id) > (${code}, ${after}) AND status <= ${code} ORDER BY status, id`;

// A single pet or page has its own statement, which is faster than a group of one.
export const GET = prepared(`SELECT ${PET_COLUMNS} FROM pets WHERE id = $1`);
const GET_ALL = prepared(
  `SELECT ${PET_COLUMNS} FROM pets WHERE id = ANY ($1::bigint[])`,
);
export const LIST = prepared(
  `SELECT ${PET_COLUMNS} FROM pets WHERE id > $1 ORDER BY id LIMIT $2`,
);
// With `status = $3` PostgreSQL might scan the primary key: a generic plan does not know how rare a
// status is. tests/adapters/storage/postgres/plans_slow.ts shows the plans.
export const LIST_STATUS = prepared(`SELECT ${PET_COLUMNS} FROM pets
    WHERE ${ofStatus("$3", "$1")} LIMIT $2`);
// With `LIMIT size` alone the planner would expect a tenth of the table for each page. Pages above
// the service's limit are never in a group (`sizeOf` in grouped_pets.ts).
const LONGEST = rowsToRead(MAX_LIMIT);
const page = (condition: string) =>
  `LATERAL (SELECT * FROM (
      SELECT ${PET_COLUMNS} FROM pets WHERE ${condition} LIMIT ${LONGEST}
    ) AS longest LIMIT size) AS page`;
/**
 * Pages of a status (`$1` to `$4`), then those of all pets; `place` is an index in the group.
 * `REINDEX` locks indexes in the order of their creation, which is this one; in the reverse order
 * the two would deadlock.
 */
export const LIST_ALL = prepared(`SELECT page.*, place
    FROM unnest($1::int[], $2::bigint[], $3::int[], $4::smallint[])
        AS asked (place, after, size, code),
      ${page(ofStatus("code", "after"))}
    UNION ALL
    SELECT page.*, place
    FROM unnest($5::int[], $6::bigint[], $7::int[]) AS asked (place, after, size),
      ${page("id > after ORDER BY id")}`);

const FIND_KEYS = prepared(
  `SELECT digest, ${API_KEY_COLUMNS} FROM api_keys WHERE digest = ANY ($1)`,
);

/** Makes the functions that read groups of pets and pages. */
export function groupReads(
  read: PostgresConnections["read"],
): Pick<GroupStorage, "get" | "list"> {
  function readPages(queries: readonly PageRequest[]): Promise<readonly Row[]> {
    const asked = queries.map(({ limit, status, after = 0n }, place) => ({
      place,
      after,
      size: rowsToRead(limit),
      code: status && STATUS_CODE[status],
    }));
    const [first, ...others] = asked;
    if (first !== undefined && others.length === 0) {
      const { after, size, code } = first;
      return code === undefined
        ? read("list pets", LIST, [after, size])
        : read("list pets", LIST_STATUS, [after, size, code]);
    }
    const columns = (pages: typeof asked) => [
      pages.map(({ place }) => place),
      pages.map(({ after }) => after),
      pages.map(({ size }) => size),
    ];
    const some = asked.filter(({ code }) => code !== undefined);
    return read("list pets", LIST_ALL, [
      ...columns(some),
      some.map(({ code = null }) => code),
      ...columns(asked.filter(({ code }) => code === undefined)),
    ]);
  }

  return {
    async get(ids) {
      const rows = ids.length === 1
        ? await read("get pet", GET, ids)
        : await read("get pet", GET_ALL, [ids]);
      const byId = new Map(rows.map((row) => [row[0], row]));
      return ids.map((id) => {
        const row = byId.get(id);
        return row && orError(() => toPet(row));
      });
    },

    async list(queries) {
      // The place follows the four columns of a pet. The rows of a single page have none.
      const rows = await readPages(queries);
      const pages = Map.groupBy(rows, (row) => row[4] ?? 0);
      return queries.map(({ limit }, place) =>
        orError(() => toPage((pages.get(place) ?? []).map(toPet), limit))
      );
    },
  };
}

/**
 * Makes the queue that finds the row of an API key. Look-ups share statements, because strangers
 * can force them with made-up keys of valid form.
 */
export function groupLookUps(
  read: PostgresConnections["read"],
  limits: ReadLimits,
): ReturnType<typeof grouped<string, Row | undefined>> {
  return grouped({
    ...limits,
    action: FIND,
    async send(digests) {
      const rows = await read(FIND, FIND_KEYS, [digests]);
      const byDigest = new Map(rows.map(([digest, ...row]) => [digest, row]));
      return digests.map((digest) => byDigest.get(digest));
    },
  });
}
