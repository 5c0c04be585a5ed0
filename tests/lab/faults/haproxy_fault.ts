/** HAProxy takes a server that ends out of use before it refuses requests, with the very lines of `docs/examples/haproxy.cfg`. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { Wire } from "../../contract/wire.ts";
import { freePort, launch } from "../../support/process.ts";
import { skipping, testUnless } from "../../support/runtime.ts";
import { REX_JSON } from "../../support/pets.ts";
import { listFrom } from "./clients.ts";
import { launchMain, untilListening } from "../../support/standalone.ts";
import { newFolder } from "../../support/temporary_directory.ts";
import { until } from "../../support/time.ts";

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
const FIELDS = "HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer secret\r\n";
const LIST = `GET /v1/pets?limit=1 ${FIELDS}\r\n`;
const CREATE =
  `POST /v1/pets ${FIELDS}Content-Length: ${REX_JSON.length}\r\n\r\n${REX_JSON}`;

testUnless(skip)(
  "behind HAProxy no request fails while one server after the other ends with SHUTDOWN_DELAY, and starts again",
  async (t) => {
    const cwd = newFolder(t);
    const env = {
      PETSTORE_API_KEYS: "secret",
      METRICS: "on",
      TRUST_PROXY: "1",
      SHUTDOWN_DELAY: "5",
    };
    async function start(port: number) {
      const args = ["start", "--port", `${port}`];
      const server = await untilListening(launchMain(args, { cwd, env }));
      return { ...server, port };
    }
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
    const proxy = launch(["haproxy", "-db", "-f", path], { env: { PATH } });
    try {
      await until(
        "HAProxy asks a server",
        () => ask(port, LIST).then((status) => status === 200, () => false),
      );
      for (const hidden of ["/livez", "/readyz", "/metrics", "//metrics"]) {
        assert.equal(await ask(port, `GET ${hidden} ${FIELDS}\r\n`), 404);
      }
      assert.equal(await listFrom("127.0.0.5", port), 200);
      await until(
        "the client's address is logged",
        () =>
          servers.some(({ stdout }) =>
            stdout().includes('"client":"127.0.0.5"')
          ),
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
    } finally {
      await proxy.end("SIGKILL");
      await Promise.all(servers.map((server) => server.end("SIGKILL")));
    }
  },
);

/** Sends lists and creates, each once, on a connection of its own: all have to be answered well. */
function putUnderLoad(port: number) {
  let [isOver, count] = [false, 0];
  async function repeat(bytes: string, expected: number): Promise<void> {
    while (!isOver) {
      assert.equal(await ask(port, bytes), expected, `after ${count} requests`);
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

/** The status of the answer. */
async function ask(port: number, bytes: string): Promise<number> {
  const wire = await Wire.open(port, bytes);
  const { status } = await wire.answer();
  wire.close();
  return status;
}
