/**
 * HAProxy stops using a server that is ending before it refuses requests, with the lines of
 * `docs/examples/haproxy.cfg`.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { freePort, startProgram } from "../../support/process.ts";
import { skipping, testUnless } from "../../support/runtime.ts";
import { REX_JSON } from "../../support/pets.ts";
import { listFrom } from "./clients.ts";
import { startMain } from "../../support/standalone.ts";
import { newFolder } from "../../support/temporary_directory.ts";
import { until } from "../../support/time.ts";
import { rawRequest, statusOf, WITH_KEY } from "../../support/wire.ts";

/** Debian keeps it where only root looks. */
const PATH = `${process.env.PATH}:/usr/sbin`;
const skip = skipping(
  spawnSync("haproxy", ["-v"], { env: { ...process.env, PATH } }).error !==
      undefined && "haproxy is not installed",
);
const CONFIGURATION = readFileSync(
  fileURLToPath(new URL("../../../docs/examples/haproxy.cfg", import.meta.url)),
  "utf8",
);
const LIST = rawRequest("GET /v1/pets?limit=1", [WITH_KEY]);
const CREATE = rawRequest("POST /v1/pets", [WITH_KEY], REX_JSON);

testUnless(skip)(
  "no request fails behind HAProxy while servers end in turn with SHUTDOWN_DELAY",
  async (t) => {
    const cwd = newFolder(t);
    const env = { METRICS: "on", TRUST_PROXY: "1", SHUTDOWN_DELAY: "5" };
    const start = (port: number) => startMain(t, { cwd, env, port });
    const ports = [await freePort(), await freePort()];
    const servers = await Promise.all(ports.map(start));
    const port = await freePort();
    const site = CONFIGURATION.replace("bind :80", `bind 127.0.0.1:${port}`)
      .replaceAll(
        /127\.0\.0\.1:800(\d)/g,
        (_, index) => `127.0.0.1:${ports[index]}`,
      );
    const path = join(cwd, "haproxy.cfg");
    writeFileSync(path, site);
    startProgram(t, ["haproxy", "-db", "-f", path], { env: { PATH } });
    await until(
      "HAProxy asks a server",
      () => statusOf(port, LIST).then((status) => status === 200, () => false),
    );
    for (const hidden of ["/livez", "/readyz", "/metrics", "//metrics"]) {
      const sent = rawRequest(`GET ${hidden}`, [WITH_KEY]);
      assert.equal(await statusOf(port, sent), 404);
    }
    assert.equal(await listFrom("127.0.0.5", port), 200);
    await until(
      "the client's address is logged",
      () =>
        servers.some(({ stdout }) => stdout().includes('"client":"127.0.0.5"')),
    );
    const load = putUnderLoad(port);
    for (const [index, server] of servers.entries()) {
      await load.goesOn();
      assert.equal(await server.end(), 0);
      await load.goesOn();
      const again = servers[index] = await start(server.port);
      await until("HAProxy uses it again", async () => {
        const url = `${again.origin}/metrics`;
        return /_count\{http_route="\/v1\/pets"/
          .test(await (await fetch(url)).text());
      });
    }
    await load.end();
  },
);

/** Sends lists and creates, each once, on a connection of its own: all have to be answered well. */
function putUnderLoad(port: number) {
  let [isOver, count] = [false, 0];
  async function repeat(bytes: string, expected: number): Promise<void> {
    while (!isOver) {
      assert.equal(
        await statusOf(port, bytes),
        expected,
        `after ${count} requests`,
      );
      count++;
    }
  }
  const cases = [[LIST, 200], [CREATE, 201]] as const;
  const work = Promise.all(
    [...cases, ...cases].map(([bytes, status]) => repeat(bytes, status)),
  );
  work.catch(() => {}); // what follows waits for it
  return {
    /** Resolves once more requests were answered; rejects if one was not. */
    async goesOn(): Promise<void> {
      const more = count + 100;
      await Promise.race([
        work,
        until("more are answered", () => count > more),
      ]);
    },
    async end(): Promise<void> {
      isOver = true;
      await work;
      console.log(`HAProxy, two servers: ${count} requests`);
    },
  };
}
