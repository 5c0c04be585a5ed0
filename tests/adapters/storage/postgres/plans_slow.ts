/**
 * The blocks of large tables that statements read: for pages with custom and generic plans, for
 * creates with keys also with plans made while the tables were empty.
 */
import assert from "node:assert/strict";
import type { Client } from "pg";
import {
  CREATE_ONCE,
  REPLAYS,
} from "../../../../adapters/storage/postgres/creates.ts";
import { postgresStorage } from "../../../../adapters/storage/postgres/mod.ts";
import { SETTINGS } from "../../../../adapters/storage/postgres/settings.ts";
import {
  LIST,
  LIST_ALL,
  LIST_STATUS,
} from "../../../../adapters/storage/postgres/reads.ts";
import { connect } from "../../../support/postgres/sql.ts";
import { onCluster } from "../../../support/postgres/test_cluster.ts";

const withCluster = {
  test: onCluster({
    settings: { fsync: "off", max_wal_size: "4GB", autovacuum: "off" },
  }),
};
const PETS = 2_500_000;
/** Enough for the rows of a page of 100, wherever they lie, and the way to them in the indexes. */
const MOST = 115;

interface Page {
  readonly after: number;
  readonly size: number;
  /** The code of a status. */
  readonly code: number | undefined;
}

// Every pet but one in a thousand has status 0, and none has status 2.
const PAGES: readonly Page[] = [undefined, 0, 1, 2].flatMap((code) =>
  [0, PETS / 2, PETS - 10, PETS].flatMap((after) =>
    [2, 21, 101].map((size) => ({ after, size, code }))
  )
);

function arrayOf(values: readonly (number | string | undefined)[]): string {
  return `'{${values.join()}}'`;
}

/** The parameters of `LIST_ALL`. */
function together(pages: readonly Page[]): readonly string[] {
  const columns = (of: readonly Page[]) => [
    arrayOf(of.map((page) => pages.indexOf(page))),
    arrayOf(of.map(({ after }) => after)),
    arrayOf(of.map(({ size }) => size)),
  ];
  const some = pages.filter(({ code }) => code !== undefined);
  return [
    ...columns(some),
    arrayOf(some.map(({ code }) => code)),
    ...columns(pages.filter(({ code }) => code === undefined)),
  ];
}

interface Plan {
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
  readonly Plans?: readonly Plan[];
}

/**
 * Counts the blocks that a plan reads, in the cache or not: the most of its parts, as some are left
 * out above.
 */
function countBlocks(plan: Plan): number {
  const own = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
  return Math.max(own, ...(plan.Plans ?? []).map(countBlocks));
}

/** Counts the blocks that a statement reads; asserts that it compiles nothing. */
async function blocksOf(
  client: Client,
  name: string,
  values: readonly (string | number)[],
): Promise<number> {
  const { rows } = await client.query(
    `explain (analyze, buffers, format json) execute ${name}(${values})`,
  );
  const [{ Plan, JIT }] = rows[0]["QUERY PLAN"];
  assert.equal(JIT, undefined);
  return countBlocks(Plan);
}

withCluster.test("a page of 2.5 million pets reads no more when it shares a statement", async ({ t, cluster }) => {
  const url = await cluster.newDatabase();
  await (await postgresStorage(url)).close();
  const client = await connect(t, url);
  await client.query(
    `insert into pets (name, category_id, status)
      select 'Rex ' || i, i, (i % 1000 = 0)::int from generate_series(1, ${PETS}) as i`,
  );
  await client.query("vacuum analyze pets");
  for (
    const [name, { text }] of Object.entries({
      LIST,
      LIST_STATUS,
      LIST_ALL,
    })
  ) {
    await client.query(`prepare ${name} as ${text}`);
  }

  for (const mode of ["force_custom_plan", "force_generic_plan"]) {
    await client.query(`set plan_cache_mode = ${mode}`);
    let sum = 0;
    for (const page of PAGES) {
      const { after, size, code } = page;
      const alone = code === undefined
        ? await blocksOf(client, "LIST", [after, size])
        : await blocksOf(client, "LIST_STATUS", [after, size, code]);
      const shared = await blocksOf(client, "LIST_ALL", together([page]));
      const what = `${mode} ${JSON.stringify(page)}: ${shared}, ${alone}`;
      assert.ok(shared <= alone, what);
      assert.ok(alone <= MOST, what);
      sum += alone;
    }
    const all = await blocksOf(client, "LIST_ALL", together(PAGES));
    assert.ok(all <= sum, `${mode}: ${all} of ${sum}`);
  }
});

withCluster.test("creates with keys read no more if a million keys came since they were planned", async ({ t, cluster }) => {
  const url = await cluster.newDatabase();
  await (await postgresStorage(url)).close();
  const options = `${SETTINGS} -c statement_timeout=20s`;
  const client = await connect(
    t,
    `${url}?options=${encodeURIComponent(options)}`,
  );
  const create = async (state: string, keys: readonly string[]) => {
    const all = (value: number) => arrayOf(keys.map(() => value));
    const pets = [all(7), all(7), all(0)];
    const values = [...pets, "'3s'", arrayOf(keys), 86_400_000];
    const created = await blocksOf(client, "CREATE_ONCE", values);
    const replayed = await blocksOf(client, "REPLAYS", [arrayOf(keys)]);
    const what = `${keys.length} of ${keys[0]}: ${created}, ${replayed}`;
    assert.ok(created <= 100 + 25 * keys.length, `${state}, ${what}`);
    assert.ok(replayed <= 100 + 25 * keys.length, `${state}, ${what}`);
  };
  const creates = async (state: string) => {
    const hundred = Array.from({ length: 100 }, (_, i) => i);
    await create(state, [`${state} alone`]);
    await create(state, hundred.map((i) => `${state} new ${i}`));
    await create(state, hundred.map((i) => `live ${i}`));
    await create(state, hundred.map((i) => `expired ${i}`));
  };
  await client.query("analyze");
  for (const [name, { text }] of Object.entries({ CREATE_ONCE, REPLAYS })) {
    await client.query(`prepare ${name} as ${text}`);
  }
  await creates("empty");
  await client.query("set statement_timeout = 0");
  await client.query(
    "insert into pets select i, 'Rex', 7, 0 from generate_series(1000, 1000000) as i",
  );
  for (const [kind, age] of [["live", 1000], ["expired", 90_000_000]]) {
    await client.query(
      `insert into idempotency_keys select '${kind} ' || i, i + 1000,
          extract(epoch from now()) * 1000 - ${age}
        from generate_series(1, 500000) as i on conflict do nothing`,
    );
  }
  await client.query("reset statement_timeout");
  await creates("grown");
  await client.query("analyze");
  await creates("analyzed");
});
