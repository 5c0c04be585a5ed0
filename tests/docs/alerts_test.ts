/**
 * The alerts of `docs/examples/alerts.yaml`: by Prometheus's own tool, each fires when it should,
 * and each is explained.
 */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { run } from "../support/process.ts";
import { pathOf, readText } from "../support/repository.ts";
import { missing, testUnless } from "../support/runtime.ts";
import { newFolder } from "../support/temporary_directory.ts";

const RULES = "docs/examples/alerts.yaml";
const withPromtool = {
  test: testUnless(
    missing("promtool", "Debian's package prometheus has it"),
  ),
};
const rules = readText(RULES);
const names = Array.from(
  rules.matchAll(/^ +- alert: (\w+)$/gm),
  ([, name = ""]) => name,
);

const COUNT = "http_server_request_duration_seconds_count";
const BUCKET = "http_server_request_duration_seconds_bucket";

/** A series, its values (every 15 s) that raise the alert, and values that do not. */
type Series = readonly [name: string, bad: string, good: string];

/** By alert: the series that raise it. */
const SERIES: Readonly<Record<string, readonly Series[]>> = {
  PetstoreDown: [["up{}", "0x80", "1x80"]],
  PetstoreRestarts: [["process_start_time_seconds{}", "1+1x80", "1x80"]],
  PetstoreStorageFaults: [
    ["petstore_storage_faults_total{}", "0+1x80", "5x80"],
  ],
  PetstoreErrors: [
    [`${COUNT}{http_response_status_code="500"}`, "0+1x80", "5x80"],
    [`${COUNT}{http_response_status_code="503"}`, "0+1x80", "0+1x80"],
  ],
  PetstoreSlow: [
    [`${BUCKET}{http_route="/v1/pets",le="0.5"}`, "0+98x80", "0+100x80"],
    [`${BUCKET}{http_route="/v1/pets",le="1"}`, "0+100x80", "0+100x80"],
    [`${BUCKET}{http_route="/v1/pets",le="+Inf"}`, "0+100x80", "0+100x80"],
    [`${BUCKET}{http_route="/readyz",le="1"}`, "0+100x80", "0+100x80"],
    [`${BUCKET}{http_route="/readyz",le="+Inf"}`, "0+100x80", "0+100x80"],
  ],
  PetstoreCreatesWait: [["petstore_creates_waiting{}", "501x80", "500x80"]],
  PetstoreReadsWait: [["petstore_reads_waiting{}", "501x80", "500x80"]],
  PetstorePostgresWaiting: [["petstore_postgres_waiting{}", "1x80", "0x80"]],
  PetstorePostgresLost: [["petstore_postgres_lost_total{}", "0+1x80", "5x80"]],
  PetstorePostgresSplitBrain: [
    ["petstore_postgres_split_brain_total{}", "0x40 1x40", "0x80"],
  ],
  PetstoreRefusedKeys: [
    [`${COUNT}{http_response_status_code="401"}`, "0+165x80", "0+135x80"],
  ],
  PetstoreSqliteLog: [["petstore_sqlite_log_bytes{}", "2e8x80", "9e7x80"]],
  PetstoreMemory: [["process_resident_memory_bytes{}", "5e8x80", "3e8x80"]],
  PetstoreDescriptors: [
    ["process_open_fds{}", "900x80", "700x80"],
    ["process_max_fds{}", "1000x80", "1000x80"],
  ],
};

test("each alert is tested, and docs/operating.md says what to do", () => {
  assert.deepEqual(Object.keys(SERIES), names);
  const named = readText("docs/operating.md").match(/(?<=`)Petstore\w+/g);
  assert.deepEqual(named?.sort(), names.toSorted());
});

for (const [alert, series] of Object.entries(SERIES)) {
  withPromtool.test(`${alert} is raised by what it is for, and not just before`, async (t) => {
    const labels = 'job="petstore",instance="a"';
    const tests = [true, false].map((isBad) => ({
      interval: "15s",
      input_series: series.map(([name, bad, good]) => ({
        series: name.replace("{", `{${labels},`).replace(",}", "}"),
        values: isBad ? bad : good,
      })),
      promql_expr_test: [{
        expr: `count(ALERTS{alertname="${alert}",alertstate="firing"})`,
        eval_time: "15m",
        exp_samples: isBad ? [{ labels: "{}", value: 1 }] : [],
      }],
    }));
    const path = join(newFolder(t), "tests.json");
    writeFileSync(
      path,
      JSON.stringify({ rule_files: [pathOf(RULES)], tests }),
    );
    const { code, stdout, stderr } = await run(
      ["promtool", "test", "rules", path],
    );
    assert.equal(code, 0, stdout + stderr);
  });
}
