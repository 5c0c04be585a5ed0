/**
 * Options that are unknown, missing or out of bounds, and runtimes that are too old, are refused
 * before anything is opened.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { serve as serveOnBun } from "../../adapters/http/bun/mod.ts";
import { type ClientOptions, createClient } from "../../adapters/client/mod.ts";
import { d1Storage } from "../../adapters/storage/d1/mod.ts";
import { serve as serveOnDeno } from "../../adapters/http/deno/mod.ts";
import {
  createDrain,
  createMetrics,
  createRateLimit,
  logLayer,
  probes,
} from "../../adapters/layers/mod.ts";
import { docs } from "../../adapters/docs/mod.ts";
import {
  serve as serveOnNode,
  toNodeListener,
} from "../../adapters/http/node/mod.ts";
import { postgresStorage } from "../../adapters/storage/postgres/mod.ts";
import { sandbox } from "../../adapters/sandbox/mod.ts";
import { sqliteStorage } from "../../adapters/storage/sqlite/mod.ts";
import { apiKeys, createHandler, memoryStorage } from "../../mod.ts";
import { interfaceContract, judge } from "../judge/mod.ts";
import { imitation } from "./storage/d1/imitation.ts";

const binding = imitation();
const SERVICE = { storage: memoryStorage(), keys: apiKeys(["secret"]) };
const handle = createHandler(SERVICE);
const STORE = { baseUrl: "http://a/v1", key: "k", fetch: handle };

/**
 * One of the options of each call, and the call with options, which may be of any type, that are added to those
 * without which there is no call.
 */
const CALLS: Readonly<
  Record<string, readonly [option: string, call: (options: object) => unknown]>
> = {
  memoryStorage: ["idempotencyRetention", memoryStorage],
  d1Storage: ["idempotencyRetention", (all) => d1Storage(binding, all)],
  sqliteStorage: ["lockTimeout", (all) => sqliteStorage("pets.db", all)],
  postgresStorage: [
    "queryTimeout",
    (all) => postgresStorage("postgres://", all),
  ],
  toNodeListener: ["onError", (all) => toNodeListener(handle, all)],
  docs: ["openApiUrl", docs],
  logLayer: ["writeFault", logLayer],
  createMetrics: ["version", createMetrics],
  createDrain: ["readyz", createDrain],
  probes: ["livez", (all) => probes(SERVICE.storage, all)],
  createRateLimit: [
    "requests",
    (all) => createRateLimit({ requests: 1, seconds: 1, ...all }),
  ],
  sandbox: ["maxPets", sandbox],
  "serve of a sandbox": ["names", (all) => sandbox().serve(all)],
  createHandler: ["storage", (all) => createHandler({ ...SERVICE, ...all })],
  createClient: [
    "key",
    (all) => createClient({ baseUrl: "http://a", key: "k", ...all }),
  ],
  judge: ["seed", (all) => judge({ ...STORE, ...all })],
  interfaceContract: [
    "timeout",
    (all) => interfaceContract({ ...STORE, it() {}, ...all }),
  ],
  "serve on Deno": ["port", (all) => serveOnDeno(handle, all)],
  "serve on Bun": ["maxRequestBodySize", (all) => serveOnBun(handle, all)],
  "serve on Node": ["headersTimeout", (all) => serveOnNode(handle, all)],
};

for (const [name, [option, call]] of Object.entries(CALLS)) {
  test(`${name} refuses an option that it does not have, and names those it has`, async () => {
    await assert.rejects(
      async () => await call({ basePath: "/v2" }),
      (error) => {
        assert.ok(error instanceof TypeError);
        assert.ok(error.message.startsWith("Unknown option basePath: "));
        assert.ok(error.message.includes(name.split(" ")[0] ?? ""));
        assert.ok(error.message.includes(option));
        return true;
      },
    );
  });
}

for (const name of ["createHandler", "createClient"]) {
  test(`${name} refuses a runtime that is too old, and says which are not`, (t) => {
    const { parse } = URL;
    t.after(() => void Object.assign(URL, { parse }));
    Reflect.deleteProperty(URL, "parse");
    assert.throws(() => CALLS[name]?.[1]({}), {
      message:
        "This runtime is too old: use Node 22.18, Deno 2.9, Bun 1.4 or later, or a browser since Chrome 126, Firefox 126 or Safari 18",
    });
  });
}

const NONE = undefined as never;
const OTHER = (() => new Response()) as unknown as typeof handle;

/** What is missing or another function, and what the message says. */
const MISSING: readonly (readonly [string, () => unknown, RegExp])[] = [
  ["createHandler", () => createHandler(NONE), /storage, keys/],
  ["createClient", () => createClient(NONE as ClientOptions), /baseUrl, key/],
  ["createHandler", () => createHandler(null as never), /storage, keys/],
  ["createClient", () => createClient("pet_7" as never), /options: baseUrl/],
  ["toNodeListener", () => toNodeListener(NONE), /createHandler/],
  ["serve on Deno", () => serveOnDeno(NONE), /createHandler/],
  ["serve on Bun", () => serveOnBun(NONE), /createHandler/],
  ["serve on Node", () => serveOnNode(NONE), /createHandler/],
  ["toNodeListener", () => toNodeListener(OTHER), /before .* with srvx$/],
  ["serve on Deno", () => serveOnDeno(OTHER), /functions to Deno\.serve$/],
  ["serve on Bun", () => serveOnBun(OTHER), /functions to Bun\.serve$/],
  ["serve on Node", () => serveOnNode(OTHER), /before .* with srvx$/],
];

for (const [name, call, says] of MISSING) {
  test(`${name} says what to pass if something else is: ${call}`, async () => {
    await assert.rejects(async () => await call(), (error) => {
      assert.ok(error instanceof TypeError);
      assert.match(error.message, RegExp(`${name.split(" ")[0]} accepts `));
      assert.match(error.message, says);
      return true;
    });
  });
}

for (const name of Object.keys(CALLS)) {
  if (!name.startsWith("serve ")) continue;
  test(`${name} refuses a hostname that is no string, or empty, before it listens`, async () => {
    for (const [hostname, shown] of [[5, "5"], ["", '""'], [null, "null"]]) {
      const call = async () => await CALLS[name]?.[1]({ hostname, port: 0 });
      const message =
        `Wrong option hostname: it must be a non-empty string, not ${shown}`;
      await assert.rejects(call, { name: "TypeError", message }, `${hostname}`);
    }
  });
}

test("judge blames no store for an option that is wrong", async () => {
  const wrong = { baseUrl: "localhost:3000/v1", key: "", categoryId: 7 };
  for (const [option, value] of Object.entries(wrong)) {
    const call = async () => await CALLS.judge?.[1]({ [option]: value });
    const message = RegExp(`^Wrong option ${option}: `);
    await assert.rejects(call, { name: "TypeError", message }, option);
  }
});

const MAX_TIME = 2 ** 31 - 1;
const MAX_INTEGER = 2 ** 53 - 1;
const NODE_TIMES = ["headersTimeout", "requestTimeout", "keepAliveTimeout"];

/** The least and the greatest value of each number. A longer timer than `MAX_TIME` fires at once. */
const BOUNDS: readonly (readonly [string, string, number, number])[] = [
  ...["memoryStorage", "d1Storage", "sqliteStorage", "postgresStorage"].map(
    (name) => [name, "idempotencyRetention", 0, MAX_INTEGER] as const,
  ),
  ["memoryStorage", "maxPets", 0, MAX_INTEGER],
  ["sqliteStorage", "lockTimeout", 0, MAX_TIME],
  ["postgresStorage", "connectTimeout", 1, MAX_TIME],
  ["postgresStorage", "queryTimeout", 1, MAX_TIME],
  ["postgresStorage", "openTimeout", 0, MAX_TIME],
  ["createHandler", "maxBodyBytes", 1, MAX_INTEGER],
  ["createHandler", "bodyTimeout", 1, MAX_TIME],
  ["logLayer", "proxies", 0, MAX_INTEGER],
  ["createRateLimit", "requests", 1, MAX_INTEGER],
  ["createRateLimit", "seconds", 1, MAX_INTEGER],
  ["createRateLimit", "proxies", 0, MAX_INTEGER],
  ["createRateLimit", "maxCallers", 1, MAX_INTEGER],
  ["createClient", "timeout", 1, MAX_TIME],
  ["createClient", "retries", 0, 10],
  ["judge", "seed", 0, 2 ** 32 - 1],
  ["interfaceContract", "timeout", 1, MAX_TIME],
  ["sandbox", "delay", 0, MAX_TIME],
  ["sandbox", "maxPets", 0, MAX_INTEGER],
  ["serve of a sandbox", "port", 0, 65_535],
  ["serve on Deno", "port", 0, 65_535],
  ["serve on Bun", "port", 0, 65_535],
  ["serve on Bun", "maxRequestBodySize", 1, MAX_INTEGER],
  ["serve on Node", "port", 0, 65_535],
  // Bun has no such server: `serve` refuses it first.
  ...("Bun" in globalThis ? [] : NODE_TIMES).map((option) =>
    ["serve on Node", option, 0, MAX_TIME] as const
  ),
];

/** What is no integer, and how the message shows it. */
const NO_INTEGERS = [
  [5.5, "5.5"],
  [NaN, "NaN"],
  [Infinity, "Infinity"],
  [null, "null"],
  ["5", '"5"'],
  [5n, "bigint"],
  [{ password: "5" }, "object"],
] as const;

for (const [name, option, least, most] of BOUNDS) {
  test(`${name} takes a ${option} from ${least} to ${most}`, async () => {
    const outside = [least - 1, most + 1].map((n) => [n, `${n}`] as const);
    const rule = `it must be an integer from ${least} to ${most}`;
    for (const [value, shown] of [...outside, ...NO_INTEGERS]) {
      const call = async () => await CALLS[name]?.[1]({ [option]: value });
      const message = `Wrong option ${option}: ${rule}, not ${shown}`;
      await assert.rejects(call, { name: "RangeError", message }, shown);
    }
  });
}

test("the bounds themselves are accepted", async () => {
  for (const name of ["createHandler", "createClient", "memoryStorage"]) {
    for (const [owner, option, ...values] of BOUNDS) {
      if (owner !== name) continue;
      for (const value of values) CALLS[name]?.[1]({ [option]: value });
    }
  }
  const times = { headersTimeout: 0, requestTimeout: 0, keepAliveTimeout: 0 };
  if ("Bun" in globalThis) return;
  await (await serveOnNode(handle, { port: 0, ...times })).close();
});
