/** The storage in D1, and docs/examples/worker.ts, in workerd: the program behind Cloudflare Workers. */
import { build, stop } from "esbuild";
import { Miniflare } from "miniflare";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { type D1Binding, d1Storage } from "../../adapters/d1/mod.ts";
import { databaseContract } from "../contract/database_contract.ts";
import { httpContract } from "../contract/http_contract.ts";

const { outputFiles: [worker] } = await build({
  entryPoints: [
    fileURLToPath(new URL("../../docs/examples/worker.ts", import.meta.url)),
  ],
  bundle: true,
  format: "esm",
  write: false,
});
await stop();

/** Runs the statements that it is sent. Miniflare's own way to a database takes ten times as long. */
const BATCH = `export default {
  async fetch(request, env) {
    const [name, statements] = await request.json();
    const prepare = ({ sql, values }) => env[name].prepare(sql).bind(...values);
    try {
      return Response.json(await env[name].batch(statements.map(prepare)));
    } catch (error) {
      return new Response(error.message, { status: 500 });
    }
  },
};`;

const names = Array.from({ length: 60 }, (_, i) => `DB${i}`);
const common = { modules: true, compatibilityDate: "2026-07-01" };
const workerd = new Miniflare({
  workers: [{
    ...common,
    name: "worker",
    script: worker?.text ?? "",
    bindings: { PETSTORE_API_KEYS: "another,secret" },
    d1Databases: ["DB"],
  }, {
    ...common,
    name: "batch",
    script: BATCH,
    d1Databases: ["DB", ...names],
    unsafeDirectSockets: [{ port: 0 }],
  }],
});
after(() => workerd.dispose());
const { origin } = await workerd.ready;
const batchUrl = await workerd.unsafeGetDirectURL("batch");

function bindingOf(name: string): D1Binding {
  return {
    prepare(sql) {
      const bind = (...values: unknown[]) => ({ sql, values, bind });
      return bind();
    },
    async batch(statements) {
      const body = JSON.stringify([name, statements]);
      const response = await fetch(batchUrl, { method: "POST", body });
      if (!response.ok) throw new Error(await response.text());
      return await response.json();
    },
  };
}

databaseContract("d1Storage in workerd", async () => {
  const binding = bindingOf(names.pop() ?? "");
  return async (options) => d1Storage(binding, options);
});

httpContract("docs/examples/worker.ts in workerd", async () => {
  const { prepare, batch } = bindingOf("DB");
  // The next request makes them anew.
  const tables = ["pets", "api_keys", "idempotency_keys"];
  await batch(tables.map((name) => prepare(`DROP TABLE IF EXISTS ${name}`)));
  return {
    fetch,
    base: `${origin}/v1`,
    key: "secret",
    close: () => Promise.resolve(),
  };
});
