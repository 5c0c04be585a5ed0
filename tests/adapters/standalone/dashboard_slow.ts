/** The Grafana dashboard, on a Prometheus that scrapes a server. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ask } from "../../contract/ask.ts";
import { REX_JSON } from "../../support/pets.ts";
import { sharedPostgres } from "../../support/postgres/shared.ts";
import { freePort, startProgram } from "../../support/process.ts";
import { readText } from "../../support/repository.ts";
import { missing, RUNTIME, testUnless } from "../../support/runtime.ts";
import { startMain } from "../../support/standalone.ts";
import { newFolder } from "../../support/temporary_directory.ts";
import { until } from "../../support/time.ts";
import { rawRequest, untilServed } from "../../support/wire.ts";

const skip = missing("prometheus");

const { skip: noPostgres, emptyDatabase } = await sharedPostgres();

const withPrometheus = { test: testUnless(skip || noPostgres) };

withPrometheus.test("the dashboard has each of our metrics, and Prometheus a value for each of its", async (t) => {
  const cwd = newFolder(t);
  const [server, other] = await Promise.all(
    ["sqlite:petstore.db", await emptyDatabase()].map((DATABASE_URL) =>
      startMain(t, { cwd, env: { METRICS: "on", DATABASE_URL } })
    ),
  );
  assert.ok(server && other);
  const servers = [server, other];
  const port = await freePort();
  const config = {
    global: { scrape_interval: "500ms" },
    scrape_configs: [{
      job_name: "petstore",
      static_configs: [{
        targets: servers.map(({ origin }) => new URL(origin).host),
      }],
    }],
  };
  writeFileSync(join(cwd, "prometheus.yml"), JSON.stringify(config));
  startProgram(t, [
    "prometheus",
    "--config.file=prometheus.yml",
    `--web.listen-address=127.0.0.1:${port}`,
  ], { cwd });

  /** The values that an expression has. */
  async function valuesOf(expression: string): Promise<readonly string[]> {
    const url = new URL(`http://127.0.0.1:${port}/api/v1/query`);
    url.searchParams.set("query", expression);
    const { status, data, error } = await (await fetch(url)).json();
    assert.equal(status, "success", `${expression}: ${error}`);
    const { result }: { result: { value: [number, string] }[] } = data;
    return result.map(({ value }) => value[1]);
  }

  await untilServed(port, rawRequest("GET /-/ready"));
  const text = readText("docs/examples/grafana.json");
  const expressions = Array.from(
    text.matchAll(/"expr": (".*"),/g),
    ([, expression = ""]) =>
      String(JSON.parse(expression)).replaceAll("$job", ".*")
        .replaceAll("$__rate_interval", "10s"),
  );
  assert.ok(expressions.length > 5);
  for (const expression of expressions) {
    // Deno does not show its descriptors.
    if (RUNTIME === "deno" && expression.includes("_fds")) continue;
    await until(`there are values of ${expression}`, async () => {
      for (const server of servers) {
        await ask(server, "POST", "/v1/pets", { body: REX_JSON });
        await ask(server, "GET", "/v1/pets/999");
      }
      const values = await valuesOf(expression);
      return values.length > 0 && !values.includes("NaN");
    });
  }
  for (const server of servers) {
    const { text } = await ask(server, "GET", "/metrics");
    for (const [, name = ""] of text.matchAll(/^# TYPE (\w+)/gm)) {
      assert.ok(expressions.some((one) => one.includes(name)), name);
    }
  }
});
