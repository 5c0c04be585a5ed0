/** Histories of minutes, and mutants of the product whose histories must contradict themselves. */
import assert from "node:assert/strict";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { Inconsistent } from "./checker.ts";
import { runHistory } from "./histories.ts";
import { TOPOLOGIES } from "./topologies.ts";
import { pathOf, readText } from "../../support/repository.ts";
import { newFolder } from "../../support/temporary_directory.ts";

const SECONDS = Number(process.env.HISTORY_SECONDS ?? 120);
const { sqlite, postgres, standby } = TOPOLOGIES;

for (const topology of Object.values(TOPOLOGIES)) {
  const { name, skip } = topology;
  const timeout = 2000 * SECONDS + 300_000;
  test(`${name} keep every promise amid faults for ${SECONDS} s`, {
    skip,
    timeout,
  }, (t) => runHistory(t, topology, { duration: 1000 * SECONDS }));
}

/** Mistakes in the product: a text in a file, the one in its place, and the faults they need. */
const MUTANTS = [
  {
    title: "creates that take no lock",
    file: "adapters/storage/postgres/turn.ts",
    from: "pg_catalog.pg_advisory_xact_lock(${lock})",
    to: "${lock}::bigint",
    topology: postgres,
    faults: [],
  },
  {
    title: "an unknown outcome taken for an unavailable database",
    file: "adapters/storage/postgres/fault.ts",
    from: '"outcome_unknown",',
    to: '"unavailable",',
    topology: postgres,
    faults: ["PostgreSQL frozen, a server killed and another restarted"],
  },
  {
    title: "a key that is remembered for 1.3 s",
    file: "adapters/keys/issued_keys.ts",
    from: "REVOCATION_DELAY = 1000",
    to: "REVOCATION_DELAY = 1300",
    topology: sqlite,
    faults: [],
  },
  {
    title: "a commit that does not wait for the disk",
    file: "adapters/storage/postgres/turn.ts",
    from: `CASE current_setting('synchronous_commit') WHEN 'off'
        THEN set_config('synchronous_commit', 'on', true) END`,
    to: "set_config('synchronous_commit', 'off', true)",
    topology: postgres,
    faults: ["PostgreSQL killed"],
  },
  {
    title: "a replay that does not wait for the standby",
    file: "adapters/storage/postgres/creates.ts",
    from: "pg_logical_emit_message(true, 'petstore', '')",
    to: "NULL",
    topology: standby,
    faults: ["standby gone, waits ended, then a failover"],
  },
] as const;

for (const { title, topology, file, from, to, faults } of MUTANTS) {
  const options = { skip: topology.skip, timeout: 200_000 };
  test(`The checker notices ${title}`, options, async (t) => {
    const copy = newFolder(t);
    for (const name of ["core", "adapters", "mod.ts", "deno.json"]) {
      cpSync(pathOf(name), join(copy, name), { recursive: true });
    }
    const source = readText(file);
    assert.ok(source.includes(from), `${file} has no ${from}`);
    writeFileSync(join(copy, file), source.replace(from, () => to));
    await assert.rejects(
      runHistory(t, topology, {
        main: join(copy, "adapters/standalone/main.ts"),
        faults,
        duration: 30_000,
      }),
      Inconsistent,
    );
  });
}
