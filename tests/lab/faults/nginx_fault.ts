/**
 * nginx closes connections that Deno cannot close, and hides the probes, with the lines of
 * `docs/examples/nginx.conf`.
 */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import process from "node:process";
import test, { type TestContext } from "node:test";
import { createClient } from "../../../adapters/client/mod.ts";
import { Wire } from "../../contract/wire.ts";
import { atEnd } from "../../support/at_end.ts";
import {
  findRuntimes,
  type FoundRuntime,
  skipping,
  testUnless,
} from "../../support/runtime.ts";
import { freePort } from "../../support/process.ts";
import { drip, type Dripping, listFrom } from "./clients.ts";
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
  WITH_KEY,
} from "../../support/wire.ts";

/** Debian keeps it where only root looks. */
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };
const NGINX_MISSING = spawnSync("nginx", ["-v"], { env }).error === undefined
  ? false
  : "nginx is not installed";
const RUNTIMES = findRuntimes();
const [deno] = RUNTIMES.filter(({ name }) => name === "deno");
const skip = skipping(deno?.missing ?? (NGINX_MISSING || CANNOT_WATCH));

const it = testUnless(skip);

const CONFIGURATION = read("examples/nginx.conf");
/** In the example times are longer. */
const SHORT = "1s";
const PATIENCE = 15_000;
/** How the servers end, one after another. */
const SIGNALS = ["SIGTERM", "SIGKILL"] as const;

const LIST = rawRequest("GET /v1/pets", [WITH_KEY]);
const CREATE = "POST /v1/pets";

it("nginx ends silence, half a header, idle connections and dripping bodies", async (t) => {
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
  const drip29 = () => openWire(t, { port }, `${headOf(29)}{`);
  await Promise.all(Array.from({ length: 50 }, drip29));
  assert.equal(await statusOf(port, LIST), 200);
  const more = server.descriptors() - before;
  assert.ok(
    more < 10,
    `50 dripping bodies cost the server ${more} descriptors`,
  );
});

it("400 silent connections to nginx do not take the descriptors of the server", async (t) => {
  const { port, server } = await behindNginx(t);
  for (let count = 0; count < 400; count++) {
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    atEnd(t, () => socket.destroy());
  }
  assert.equal(await statusOf(server.port, LIST), 200);
  assert.ok(server.descriptors() < 100);
  assert.equal(server.stderr().includes("Cannot accept"), false);
});

it("an offer of HTTP/2 by Upgrade, as Java makes it, does no harm behind nginx", async (t) => {
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

for (const runtime of RUNTIMES) {
  const title = `${runtime.name}: the probes are hidden behind nginx`;
  const skip = skipping(runtime.missing ?? (NGINX_MISSING || CANNOT_WATCH));
  test(title, { skip }, async (t) => {
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

it("no GET fails behind nginx while one of two servers ends, or hangs", async (t) => {
  const cwd = newFolder(t);
  const env = { METRICS: "on", TRUST_PROXY: "1" };
  const start = (port: number) => startMain(t, { cwd, env, port });
  const ports = [await freePort(), await freePort()];
  const servers = await Promise.all(ports.map(start));
  const port = await startNginx(t, ports);
  assert.equal(await listFrom("127.0.0.5", port), 200);
  const isLogged = ({ stdout }: RunningServer) =>
    stdout().includes('"client":"127.0.0.5"');
  await until("its address is logged", () => servers.some(isLogged));
  const load = putUnderLoad(port);
  for (const [index, signal] of SIGNALS.entries()) {
    await load.goesOn();
    const server = servers[index];
    assert.ok(server !== undefined);
    // Until this create is whole, a server that was told to stop answers 503.
    const slow = await openSlowCreate(t, server);
    server.kill(signal);
    await load.goesOn();
    slow.abandon();
    await server.exited;
    const again = servers[index] = await start(server.port);
    await until("nginx uses it again", () => isUsed(again));
  }
  const { names, found } = await load.end();
  assert.deepEqual(found.toSorted(), names.toSorted());

  servers[0]?.kill("SIGSTOP"); // it hangs
  let quick = 0;
  await until("nginx leaves it out", async () => {
    const start = performance.now();
    assert.equal(await statusOf(port, LIST), 200);
    quick = performance.now() - start < 500 ? quick + 1 : 0;
    return quick === 10;
  });
});

/**
 * Sends GETs, which all have to be answered 200, and creates, sent again after 502 and 503, until
 * its end.
 */
function putUnderLoad(port: number) {
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  const client = createClient({ baseUrl, key: "secret" });
  const names: string[] = [];
  let [isOver, gets] = [false, 0];
  async function read(): Promise<void> {
    while (!isOver) {
      // Each on a connection of its own: nginx soon ends idle ones.
      assert.equal(await statusOf(port, LIST), 200, `after ${gets} GETs`);
      gets++;
    }
  }
  async function create(_: unknown, writer: number): Promise<void> {
    for (let count = 0; !isOver; count++) {
      const name = `${writer}-${count}`;
      await client.createPet({ name, categoryId: 1n });
      names.push(name);
    }
  }
  const four = { length: 4 };
  const work = Promise.all([
    ...Array.from(four, read),
    ...Array.from(four, create),
  ]);
  work.catch(() => {}); // what follows waits for it
  return {
    /** Resolves once more requests of both kinds were answered; rejects if one was not. */
    async goesOn(): Promise<void> {
      const [moreGets, morePets] = [gets + 200, names.length + 20];
      const isMore = () => gets > moreGets && names.length > morePets;
      await Promise.race([work, until("more requests are answered", isMore)]);
    },
    /** Resolves to the names that were added, and to those that are listed. */
    async end() {
      isOver = true;
      await work;
      const pets = await Array.fromAsync(client.pets());
      console.log(`nginx, two servers: ${gets} GETs, ${names.length} creates`);
      return { names, found: pets.map(({ name }) => name) };
    },
  };
}

/** Tells whether a server was sent a list. */
async function isUsed({ origin }: RunningServer): Promise<boolean> {
  const metrics = await (await fetch(`${origin}/metrics`)).text();
  return /duration_seconds_count\{http_route="\/v1\/pets"/.test(metrics);
}

/** Starts a server, which may have 200 descriptors, and nginx in front of it. */
async function behindNginx(
  t: TestContext,
  runtime: FoundRuntime | undefined = deno,
  settings: Readonly<Record<string, string>> = {},
): Promise<{ readonly port: number; readonly server: RunningServer }> {
  assert.ok(runtime !== undefined);
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
  const nginx = spawn("nginx", ["-p", folder, "-c", "nginx.conf"], {
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const ended = new Promise((resolve) => nginx.once("close", resolve));
  atEnd(t, () => {
    nginx.kill("SIGKILL");
    return ended;
  });
  await until(
    "nginx listens",
    () =>
      Wire.open(port).then((wire) => wire.close()).then(
        () => true,
        () => false,
      ),
  );
  return port;
}

function read(path: string): string {
  return readFileSync(
    new URL(`../../../docs/${path}`, import.meta.url),
    "utf8",
  );
}
