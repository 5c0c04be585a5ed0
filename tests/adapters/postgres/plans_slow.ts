import assert from "node:assert/strict";
import { Client } from "pg";
import { postgresStorage } from "../../../adapters/postgres/mod.ts";
import {
  LIST,
  LIST_ALL,
  LIST_STATUS,
} from "../../../adapters/postgres/reads.ts";
import { testCluster } from "../../support/postgres/test_cluster.ts";

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

function arrayOf(values: readonly (number | undefined)[]): string {
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
    ...columns(pages.filter(({ code }) => code === undefined)),
    ...columns(some),
    arrayOf(some.map(({ code }) => code)),
  ];
}

/** Counts the blocks that a statement reads, in the cache or not; asserts that it compiles nothing. */
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
  return Plan["Shared Hit Blocks"] + Plan["Shared Read Blocks"];
}

testCluster(
  "a page of 2.5 million pets reads no more when it shares a statement than alone, at any depth, for any status",
  async (cluster) => {
    const url = await cluster.newDatabase();
    await (await postgresStorage(url)).close();
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
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
    } finally {
      await client.end();
    }
  },
  { settings: { fsync: "off", max_wal_size: "4GB" } },
);
