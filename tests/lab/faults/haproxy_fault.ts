/**
 * HAProxy stops using a server that is ending before it refuses requests, with the lines of
 * `docs/examples/haproxy.cfg`.
 */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { findProgram, freePort, startProgram } from "../../support/process.ts";
import { readText } from "../../support/repository.ts";
import { skipping, testUnless } from "../../support/runtime.ts";
import { REX_JSON } from "../../support/pets.ts";
import { repeating, twoServers } from "./proxies.ts";
import {
  rawRequest,
  statusOf,
  untilServed,
  WITH_KEY,
} from "../../support/wire.ts";

const HAPROXY = findProgram("haproxy");
const skip = skipping(HAPROXY === undefined && "haproxy is not installed");
const CONFIGURATION = readText("docs/examples/haproxy.cfg");
const LIST = rawRequest("GET /v1/pets?limit=1", [WITH_KEY]);
const CREATE = rawRequest("POST /v1/pets", [WITH_KEY], REX_JSON);

testUnless(skip)(
  "no request fails behind HAProxy while servers end in turn with SHUTDOWN_DELAY",
  async (t) => {
    const two = await twoServers(t, { SHUTDOWN_DELAY: "5" });
    const port = await freePort();
    const site = CONFIGURATION.replace("bind :80", `bind 127.0.0.1:${port}`)
      .replaceAll(
        /127\.0\.0\.1:800(\d)/g,
        (_, index) => `127.0.0.1:${two.ports[index]}`,
      );
    const path = join(two.cwd, "haproxy.cfg");
    writeFileSync(path, site);
    startProgram(t, [HAPROXY ?? "", "-db", "-f", path]);
    await untilServed(port, LIST);
    for (const hidden of ["/livez", "/readyz", "/metrics", "//metrics"]) {
      const sent = rawRequest(`GET ${hidden}`, [WITH_KEY]);
      assert.equal(await statusOf(port, sent), 404, hidden);
    }
    await two.assertAddressLogged(port);
    // Each request is sent once, on a connection of its own: all have to be answered well.
    const cases = [[LIST, 200], [CREATE, 201]] as const;
    const load = repeating(
      [...cases, ...cases].map(([bytes, status]) => async () =>
        assert.equal(await statusOf(port, bytes), status)
      ),
    );
    await two.endEach(async (server) => {
      await load.goesOn();
      assert.equal(await server.end(), 0);
      await load.goesOn();
    });
    console.log(`HAProxy, two servers: ${await load.end()} requests`);
  },
);
