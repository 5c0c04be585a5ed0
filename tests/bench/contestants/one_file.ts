/**
 * A server in one file that opens SQLite in WAL and loads valibot: what the start of ours is measured by.
 *
 * @module
 */

import { createServer } from "node:http";
import { DatabaseSync } from "node:sqlite";
import * as v from "valibot";
import { HOST, PORT, SQLITE_FILE } from "./settings.ts";

interface BunRuntime {
  serve(options: {
    readonly port: number;
    readonly hostname: string;
    readonly fetch: (request: Request) => Response;
  }): unknown;
}

const db = new DatabaseSync(SQLITE_FILE ?? ":memory:");
db.exec("PRAGMA journal_mode = WAL");
const byId = db.prepare("SELECT id FROM pets WHERE id > ? LIMIT ?");
const schema = v.object({ limit: v.optional(v.number(), 20) });
const headers = { "content-type": "application/json" };

function answer(): string {
  return JSON.stringify(byId.all(0, v.parse(schema, {}).limit));
}

if ("Deno" in globalThis) {
  Deno.serve(
    { port: PORT, hostname: HOST, onListen: () => {} },
    () => new Response(answer(), { headers }),
  );
} else if ("Bun" in globalThis) {
  const { Bun } = globalThis as unknown as { readonly Bun: BunRuntime };
  Bun.serve({
    port: PORT,
    hostname: HOST,
    fetch: () => new Response(answer(), { headers }),
  });
} else {
  createServer((_request, response) => {
    response.writeHead(200, headers).end(answer());
  }).listen(PORT, HOST);
}
