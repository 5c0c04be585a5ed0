/**
 * nginx closes connections that Deno cannot close, and hides the probes, with the lines of
 * `docs/examples/nginx.conf`.
 */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { createClient } from "../../../adapters/client/mod.ts";
import {
  findRuntime,
  findRuntimes,
  type FoundRuntime,
  skipping,
  testUnless,
} from "../../support/runtime.ts";
import { findProgram, freePort, startProgram } from "../../support/process.ts";
import { drip, type Dripping } from "./clients.ts";
import { repeating, twoServers } from "./proxies.ts";
import { readText } from "../../support/repository.ts";
import { newFolder } from "../../support/temporary_directory.ts";
import { until } from "../../support/time.ts";
import {
  CANNOT_WATCH,
  openSlowCreate,
  QUIET,
  type RunningServer,
  startMain,
} from "../../support/standalone.ts";
import { REX_JSON } from "../../support/pets.ts";
import {
  answerTo,
  openWire,
  rawRequest,
  statusOf,
  untilServed,
  WITH_KEY,
} from "../../support/wire.ts";

const NGINX = findProgram("nginx");
const NGINX_MISSING = NGINX === undefined && "nginx is not installed";
const deno = findRuntime("deno");
const skipOn = ({ missing }: FoundRuntime) =>
  skipping(missing ?? (NGINX_MISSING || CANNOT_WATCH));

const onDeno = { test: testUnless(skipOn(deno)) };

const CONFIGURATION = readText("docs/examples/nginx.conf");
/** In the example times are longer; a busy machine may take a second for an answer. */
const SHORT = "5s";
const PATIENCE = 30_000;

const LIST = rawRequest("GET /v1/pets", [WITH_KEY]);
const CREATE = "POST /v1/pets";

onDeno.test("nginx ends silence, half a header, idle connections and dripping bodies", async (t) => {
  const { port, server } = await behindNginx(t);
  const before = server.descriptors();
  const headOf = (length: number) =>
    rawRequest(CREATE, [WITH_KEY, `Content-Length: ${length}`]);
  const clients: Readonly<Record<string, Dripping>> = {
    silence: { sent: "" },
    "half a header": { sent: LIST.slice(0, 25) },
    "an idle connection": { sent: LIST },
    "half a body": { sent: headOf(29) + REX_JSON.slice(9) },
    "a body that drips on after 413": {
      sent: headOf(90_000),
      drop: " ",
    },
  };
  const ends = await Promise.all(
    Object.entries(clients).map(async ([what, client]) => {
      const { seconds } = await drip(port, client, PATIENCE);
      assert.ok(seconds !== undefined, `${what} lives on`);
      return `${what}: ${Math.round(1000 * seconds)} ms`;
    }),
  );
  console.log(`nginx, with all times ${SHORT}: ${ends.join(", ")}`);
  const sent = Array.from(
    { length: 450 },
    (_, i) => i < 50 ? `${headOf(29)}{` : "",
  );
  await Promise.all(sent.map((bytes) => openWire(t, { port }, bytes)));
  // nginx accepts connections in turn: it has them all once it answers this one.
  assert.equal(await statusOf(port, LIST), 200);
  const more = server.descriptors() - before;
  assert.ok(
    more < 10,
    `450 such clients cost the server ${more} descriptors`,
  );
});

onDeno.test("an offer of HTTP/2 by Upgrade, as Java makes it, does no harm behind nginx", async (t) => {
  const { port, server } = await behindNginx(t);
  const offer = [
    "Connection: Upgrade, HTTP2-Settings",
    "Upgrade: h2c",
    "HTTP2-Settings: AAMAAABkAAQAAP__",
  ];
  const create = rawRequest(CREATE, [WITH_KEY, ...offer], REX_JSON);
  assert.equal(await statusOf(server.port, create), 400);
  assert.equal(await statusOf(port, create), 201);
});

/**
 * Targets that are, or that some server might take for, those of a probe: nginx and URL parsers
 * differ.
 */
const HIDDEN = String.raw`
/livez /readyz /metrics //metrics /v1/../metrics /metrics/ /METRICS /metrics? /metrics?x=/v1/pets /%6detrics
/metrics#/v1/pets /metrics;/v1/pets /metrics//../v1/pets /metrics/../metrics /v1/pets/..//../../metrics
/v1/pets/.././../metrics /v1/%2e%2e/metrics /%2e/metrics /.%2fmetrics /v1/..%2fmetrics /v1/..%5cmetrics
/.\metrics \metrics /\metrics /x\..\metrics /v1/..\metrics /v1/..\..\metrics /v1\..\metrics /docs/..\metrics
/docs\..\metrics /v1/pets\..\..\metrics /v1/pets/1\..\..\..\metrics /v1/%2e%2e\metrics /v1/%2e%2e/..\metrics
/v1/pets/..\..\%2E%2E\metrics http://a/metrics http://a#/metrics http://a\metrics http://a/v1/..\metrics
`.trim().split(/\s+/);
const SHOWN =
  "/v1/pets /v1/pets?limit=5 /v1/%70ets /v1/openapi.json /docs /docs/page.js / http://a/v1/pets http://a?/../metrics"
    .split(" ");

for (const runtime of findRuntimes()) {
  const onRuntime = { test: testUnless(skipOn(runtime)) };
  onRuntime.test(`${runtime.name}: the probes are hidden behind nginx`, async (t) => {
    const { port } = await behindNginx(t, runtime, { METRICS: "on" });
    const get = (target: string) =>
      answerTo(port, rawRequest(`GET ${target}`, [WITH_KEY]));
    for (const target of SHOWN) {
      assert.equal((await get(target)).status, 200, target);
    }
    assert.match((await get("/v1/pets/7")).body, /"not_found"/);
    for (const target of HIDDEN) {
      const { status, body } = await get(target);
      assert.ok(status === 404 || status === 400, `${target}: ${status}`);
      assert.doesNotMatch(body, /petstore_|"ok"|storage/, target);
    }
  });
}

onDeno.test("no GET fails behind nginx while one of two servers ends, or hangs", async (t) => {
  const two = await twoServers(t);
  const port = await startNginx(t, two.ports);
  await two.assertAddressLogged(port);
  const client = createClient({
    baseUrl: `http://127.0.0.1:${port}/v1`,
    key: "secret",
  });
  const names: string[] = [];
  // Each GET is sent once, on a connection of its own, as nginx soon ends idle ones.
  const list = async () => assert.equal(await statusOf(port, LIST), 200);
  // These are sent again after 502 and 503.
  const create = async () => {
    const { name } = await client.createPet({
      name: crypto.randomUUID(),
      categoryId: 1n,
    });
    names.push(name);
  };
  const four = { length: 4 };
  const load = repeating(
    [list, create].flatMap((job) => Array.from(four, () => job)),
  );
  await two.endEach(async (server, index) => {
    await load.goesOn();
    // Until this create is whole, a server that was told to stop answers 503.
    const slow = await openSlowCreate(t, server);
    server.kill(index === 0 ? "SIGTERM" : "SIGKILL");
    await load.goesOn();
    slow.abandon();
    await server.exited;
  });
  console.log(`nginx, two servers: ${await load.end()} requests`);
  const found = await Array.fromAsync(client.pets(), ({ name }) => name);
  assert.deepEqual(found.toSorted(), names.toSorted());

  two.servers[0]?.kill("SIGSTOP"); // it hangs
  let quick = 0;
  await until("nginx leaves it out", async () => {
    const start = performance.now();
    await list();
    // Otherwise it gets every other one, which takes 5 s.
    quick = performance.now() - start < 2500 ? quick + 1 : 0;
    return quick === 4;
  }, 120_000);
});

/** Starts a server, which may have 200 descriptors, and nginx in front of it. */
async function behindNginx(
  t: TestContext,
  runtime: FoundRuntime = deno,
  settings: Readonly<Record<string, string>> = {},
): Promise<{ readonly port: number; readonly server: RunningServer }> {
  const prefix = ["sh", "-c", 'ulimit -n 200; exec "$@"', "sh"];
  const env = { ...QUIET, ...settings };
  const server = await startMain(t, { runtime, prefix, env });
  return { port: await startNginx(t, [server.port]), server };
}

/** Starts nginx in front of the servers at these ports, and returns its own. */
async function startNginx(
  t: TestContext,
  servers: readonly number[],
): Promise<number> {
  const folder = newFolder(t);
  const port = await freePort();
  const site = CONFIGURATION
    .replaceAll(
      /\n\tserver 127\.0\.0\.1:800(\d)(.*;)/g,
      (_, index, checks) =>
        servers[index] === undefined
          ? ""
          : `\n\tserver 127.0.0.1:${servers[index]}${checks}`,
    )
    .replace("listen 80;", `listen 127.0.0.1:${port};`)
    .replaceAll(/(timeout|time) \d+s;/g, `$1 ${SHORT};`)
    .replace("limit_conn petstore 100;", "limit_conn petstore 1000;");
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${folder}/${name};`).join("\n");
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off; master_process off; pid ${folder}/pid; error_log stderr crit;
events { worker_connections 2048; }
http { access_log off;\n${temporary}\n${site}}\n`,
  );
  startProgram(t, [NGINX ?? "", "-p", folder, "-c", "nginx.conf"]);
  await untilServed(port, LIST);
  return port;
}
