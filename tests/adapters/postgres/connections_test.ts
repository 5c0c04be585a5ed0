import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { inspect } from "node:util";
import { postgresStorage } from "../../../adapters/postgres/mod.ts";
import { petId } from "../../../core/pets/pet.ts";
import type { StorageError } from "../../../core/pets/pet_storage.ts";
import { freePort, listen } from "../../support/ports.ts";
import { type Line, openLine } from "../../faults/line.ts";
import { REX } from "../../support/new_pet.ts";
import { setTimeout as delay } from "node:timers/promises";
import { sharedPostgres } from "../../support/postgres/shared.ts";

const shared = await sharedPostgres();

interface Way {
  readonly line: Line;
  /** Where the line leads to. */
  readonly server: { readonly host: string; readonly port: number };
  /** The URL of an empty database, through the line. */
  readonly url: URL;
  readonly open: typeof postgresStorage;
}

function it(what: string, check: (way: Way) => Promise<void>): void {
  shared.it(what, async (direct, open) => {
    const url = new URL(direct);
    const server = { host: url.hostname, port: Number(url.port || 5432) };
    const line = await openLine(server.port, server.host);
    url.host = `127.0.0.1:${line.port}`;
    try {
      await check({ line, server, url, open });
    } finally {
      await line.close();
    }
  });
}

it("sends a read again whose connection is lost; without a server each call says what it cannot do", async ({ line, server, url, open }) => {
  const storage = await open(url.href);
  line.delay(2000);
  const reading = storage.ping();
  await delay(50);
  line.delay(0);
  line.leadTo(server.port);
  await reading;
  await line.close();
  for (
    const [action, call] of [
      ["reach the database", () => storage.ping()],
      ["get pet", () => storage.get(petId(1n))],
      ["list pets", () => storage.list({ limit: 1 })],
      ["check API key", () => storage.apiKeys.isActive("1")],
      ["create pet", () => storage.create(REX)],
    ] as const
  ) {
    const message =
      `Cannot ${action} at ${url.host}: connect ECONNREFUSED ${url.host}`;
    await assert.rejects(call(), { kind: "unavailable", message });
  }
});

it("goes on at the next server if several calls lose one together", async ({ line, server, url, open }) => {
  const hosts = `${url.host},${server.host}:${server.port}`;
  const storage = await open(url.href.replace(url.host, hosts));
  const ping = (times: number) =>
    Promise.all(Array.from({ length: times }, () => storage.ping()));
  await ping(10);
  await line.close();
  await ping(4);
});

it("waits for a server that does not answer yet, but for no missing database", async ({ line, server, url, open }) => {
  line.leadTo(await freePort());
  setTimeout(() => line.leadTo(server.port), 100);
  await open(url.href);
  url.pathname = "nowhere";
  const opening = open(url.href, { openTimeout: 60_000 });
  await assert.rejects(opening, /database "nowhere" does not exist$/);
});

it("mistrusts all older connections once one does not answer", async ({ line, url, open }) => {
  const storage = await open(url.href, { queryTimeout: 500 });
  await Promise.all(Array.from({ length: 10 }, () => storage.ping()));
  // As if a firewall forgot them: they are lost, and nobody is told.
  line.cutOff();
  line.heal();
  // The time of the read is up: it is not sent again.
  const reading = assert.rejects(storage.ping(), {
    kind: "unavailable",
    message: /Query read timeout$/,
  });
  await assert.rejects(storage.create(REX), {
    kind: "outcome_unknown",
    message: /^Cannot tell the outcome \(create pet at /,
  });
  await reading;
  assert.equal((await storage.create(REX)).name, "Rex");
});

test("postgresStorage tries each host of its address once, in turn, and names what is wrong with each, without the password", async () => {
  let tries = 0;
  const server = createServer((socket) => {
    tries++;
    socket.destroy();
  });
  const ports = [await freePort(), await listen(server), await freePort()];
  const hosts = ports.map((port) => `127.0.0.1:${port}`);
  const opening = postgresStorage(`postgres://ann:s3cret@${hosts}/pets`, {
    openTimeout: 0,
  });
  await assert.rejects(opening, (error: StorageError) => {
    assert.equal(error.kind, "unavailable");
    const [first, , third] = hosts.map((host) =>
      `connect ECONNREFUSED ${host}`
    );
    const causes = `${first}; \\w[^;]*; ${third}`;
    const message = `^Cannot open the database at ${
      hosts.join(", ")
    }: ${causes}$`;
    assert.match(error.message, RegExp(message));
    assert.doesNotMatch(inspect(error, { depth: 9 }), /s3cret/);
    return true;
  });
  assert.equal(tries, 1);
  server.close();
});
