/** The storage in D1, and docs/examples/worker.ts, in workerd: the program behind Cloudflare Workers. */
import assert from "node:assert/strict";
import { buildSync } from "esbuild";
import { Miniflare } from "miniflare";
import { after, test } from "node:test";
import { type D1Binding, d1Storage } from "../../../adapters/storage/d1/mod.ts";
import { databaseContract } from "../../adapters/storage/database_contract.ts";
import { httpContract } from "../../contract/register.ts";
import { placeExample } from "../../support/examples.ts";
import { anyName, anyNewPet, fc, runs } from "../../support/property.ts";
import { temporaryDirectory } from "../../support/temporary_directory.ts";

/** Sends statements to the database; Miniflare's own way there takes ten times as long. */
const BATCH = `export default {
  async fetch(request, { DB }) {
    const prepare = ({ sql, values }) => DB.prepare(sql).bind(...values);
    const sent = DB.batch((await request.json()).map(prepare));
    return await sent.then(Response.json, ({ message }) =>
      new Response(message, { status: 500 }));
  },
};`;

/** The text of an example with all that it imports. */
function bundle(example: string): string {
  const { outputFiles: [file] } = buildSync({
    entryPoints: [placeExample(example, temporaryDirectory())],
    bundle: true,
    format: "esm",
    write: false,
  });
  return file?.text ?? "";
}

const settings = {
  modules: true,
  compatibilityDate: "2026-07-01",
  d1Databases: ["DB"],
  bindings: { PETSTORE_API_KEYS: "another,secret" },
  unsafeDirectSockets: [{ port: 0 }],
};
const workerd = new Miniflare({
  workers: [
    { ...settings, name: "worker", script: bundle("worker.ts") },
    { ...settings, name: "server", script: bundle("server.ts") },
    { ...settings, name: "batch", script: BATCH },
  ],
});
after(() => workerd.dispose());
const { origin } = await workerd.unsafeGetDirectURL("worker");
const batchUrl = await workerd.unsafeGetDirectURL("batch");

// A connection is not used again: workerd may close it just then.
const client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
const send = (to: Request | URL, init: RequestInit = {}) =>
  fetch(to, { ...init, client });

const binding: D1Binding = {
  prepare(sql) {
    const bind = (...values: unknown[]) => ({ sql, values, bind });
    return bind();
  },
  async batch(statements) {
    const body = JSON.stringify(statements);
    const response = await send(batchUrl, { method: "POST", body });
    if (!response.ok) throw new Error(await response.text());
    return await response.json();
  },
};

/** The next statement makes the tables anew. */
async function dropTables(): Promise<void> {
  const tables = ["pets", "api_keys", "idempotency_keys"];
  const drops = tables.map((name) => `DROP TABLE IF EXISTS ${name}`);
  await binding.batch(drops.map((sql) => binding.prepare(sql)));
}

const testNamed = (title: string, check: () => Promise<void>) =>
  test(`d1Storage in workerd: ${title}`, check);
databaseContract(testNamed, async () => {
  await dropTables();
  return async (options) => d1Storage(binding, options);
});

testNamed("create, get and list keep every pet exactly", async () => {
  await dropTables();
  const storage = d1Storage(binding);
  await fc.assert(fc.asyncProperty(anyNewPet, async (newPet) => {
    const pet = await storage.create(newPet);
    const expected = { id: pet.id, ...newPet };
    assert.deepEqual(pet, expected);
    assert.deepEqual(await storage.get(pet.id), expected);
    const query = { limit: 1, after: pet.id - 1n, status: newPet.status };
    assert.deepEqual((await storage.list(query)).pets, [expected]);
  }));
});

testNamed(
  "apiKeys: insert, revoke and list keep every name and time exactly",
  async () => {
    await dropTables();
    const { apiKeys } = d1Storage(binding);
    const anyTime = fc.date({ noInvalidDate: true });
    const anyRecord = fc.tuple(anyName, anyTime, anyTime);
    let count = 0;
    await fc.assert(
      fc.asyncProperty(anyRecord, async ([name, created, revoked]) => {
        const digest = (++count).toString(16).padStart(64, "0");
        const { id } = await apiKeys.insert({ name, digest, created });
        const expected = { id, name, created, revoked };
        assert.deepEqual(await apiKeys.revoke(id, revoked), expected);
        assert.deepEqual((await apiKeys.list()).at(-1), expected);
      }),
      runs(30),
    );
  },
);

httpContract(
  (title, check) => test(`docs/examples/worker.ts in workerd: ${title}`, check),
  async () => {
    await dropTables();
    const close = async () => {};
    return { fetch: send, base: `${origin}/v1`, key: "secret", close };
  },
);

test("docs/examples/worker.ts in workerd: the document is compressed once", async () => {
  const answer = await send(new URL(`${origin}/v1/openapi.json`)); // fetch asks for gzip, and decodes it
  assert.equal((await answer.json()).openapi, "3.1.1");
});

test("docs/examples/server.ts in workerd: a pet is added", async () => {
  const server = await workerd.unsafeGetDirectURL("server");
  const headers = {
    authorization: "Bearer secret",
    "content-type": "application/json",
  };
  const body = '{"name":"Rex","categoryId":9007199254740993}';
  const url = new URL(`${server.origin}/v1/pets`);
  const answer = await send(url, { method: "POST", headers, body });
  assert.equal(
    await answer.text(),
    '{"id":1,"name":"Rex","categoryId":9007199254740993,"status":"available"}',
  );
});
