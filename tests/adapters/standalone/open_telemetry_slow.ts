/**
 * A collector receives traces and metrics of Deno's own OpenTelemetry, and of OpenTelemetry's SDK
 * for Node.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import { createServer } from "node:http";
import process from "node:process";
import { atEnd } from "../../support/at_end.ts";
import { startProgram } from "../../support/process.ts";
import { pathOf, ROOT } from "../../support/repository.ts";
import { findRuntimes, skipping, testUnless } from "../../support/runtime.ts";
import { until } from "../../support/time.ts";
import { listenOn } from "../../support/server.ts";
import { MAIN } from "../../support/standalone.ts";
import { openWire, rawRequest, WITH_KEY } from "../../support/wire.ts";

const FOLDER = pathOf("tests/adapters/standalone/open_telemetry");
const SERVER = [MAIN, "start", "--port", "0"];
const HANDLER = `
  import { apiKeys, createHandler, memoryStorage } from "${ROOT}mod.ts";
  const runtime = "Deno" in globalThis ? "deno" : "node";
  const { serve } = await import(\`${ROOT}adapters/http/\${runtime}/mod.ts\`);
  const options = { storage: memoryStorage(), keys: apiKeys(["secret"]) };
  console.log((await serve(createHandler(options), { port: 0 })).url);`;
const SDK = `${FOLDER}/node_modules/sdk.mjs`;
const IMPORT = `--import=${SDK}`;
const PROGRAMS = [
  ["deno", "the server", ["run", "-A", ...SERVER]],
  ["deno", "a handler", ["eval", HANDLER]],
  ["node", "the server", [IMPORT, ...SERVER]],
  ["node", "a handler", [IMPORT, "--input-type=module", "--eval", HANDLER]],
] as const;

/** Three requests that are sent at once, each in its own trace. */
const TRACES = ["1", "2", "3"].map((digit) => digit.repeat(32));
const REQUESTS = ["POST /v1/pets", "GET /v1/pets/7", "PROPFIND /v1/pets"].map(
  (line, i) => {
    const parent = `traceparent: 00-${TRACES[i]}-00f067aa0ba902b7-01`;
    return rawRequest(line, [WITH_KEY, parent], "");
  },
);
const noDeno = !("Deno" in globalThis) && "Deno installs OpenTelemetry's SDK";
const runtimes = findRuntimes();

for (const [runtime, what, args] of PROGRAMS) {
  const found = runtimes.find(({ name }) => name === runtime);
  const skip = found?.missing ?? skipping(noDeno);
  const title = `on ${runtime} what ${what} sends and logs has route and trace`;

  testUnless(skip)(title, async (t) => {
    const install = ["install", "--frozen", "--quiet"];
    execFileSync(process.execPath, install, { cwd: FOLDER });
    // Beside its packages.
    copyFileSync(pathOf("docs/examples/open_telemetry.mjs"), SDK);
    let output = "";
    const collector = createServer(async (request, response) => {
      let text = "";
      for await (const chunk of request.setEncoding("utf8")) text += chunk;
      JSON.parse(text, (_key, value) => {
        const { key, stringValue, attributes, name, kind } = value ?? {};
        // Keeps only the route: the text of an attribute that is one, and the route of a metric's
        // point.
        if (key !== undefined) return key === "http.route" && value.value;
        const route = attributes?.find(Boolean);
        if (kind === 2) output += `${name}, ${route}, ${value.traceId}\n`;
        for (const point of value?.histogram?.dataPoints ?? []) {
          output += `${name}, ${point}\n`;
        }
        return stringValue ?? (kind === undefined && route || value);
      });
      response.end("{}");
    });
    const port = await listenOn(t, collector);
    atEnd(t, () => collector.closeAllConnections());
    const program = startProgram(t, [found?.command ?? "", ...args], {
      env: {
        DATABASE_URL: "memory:",
        PETSTORE_API_KEYS: "secret",
        OTEL_DENO: "true",
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
        OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
        OTEL_BSP_SCHEDULE_DELAY: "50",
        OTEL_METRIC_EXPORT_INTERVAL: "200",
        OTEL_METRIC_EXPORT_TIMEOUT: "200",
      },
    });
    const all = () => program.stdout() + program.stderr() + output;
    const url = () => /http:\/\/127.0.0.1:(\d+)/.exec(all())?.[1];
    // Node's instrumentation names the span itself, and by any method.
    const unknown = runtime === "deno" ? "HTTP" : "PROPFIND";
    const known = [
      `POST /v1/pets, /v1/pets, ${TRACES[0]}\n`,
      `GET /v1/pets/{petId}, /v1/pets/{petId}, ${TRACES[1]}\n`,
      `${unknown} /v1/pets, /v1/pets, ${TRACES[2]}\n`,
      "http.server.request.duration, /v1/pets\n",
      "http.server.request.duration, /v1/pets/{petId}\n",
    ];
    const logged = TRACES.map((id) => `"trace_id":"${id}"}\n`);
    if (what === "the server") known.push(...logged);
    try {
      await until("it listens", () => url() !== undefined);
      await openWire(t, { port: Number(url()) }, REQUESTS.join(""));
      await until(
        "all has come",
        () => known.every((text) => all().includes(text)),
      );
    } catch (cause) {
      throw new Error(all(), { cause });
    }
  });
}
