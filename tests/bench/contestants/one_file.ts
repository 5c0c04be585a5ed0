// A small server that opens SQLite in WAL and loads valibot: what the start of ours is measured by.
import { DatabaseSync } from "node:sqlite";
import * as v from "valibot";
import { HOST, listen, PORT, SQLITE_FILE } from "./settings.ts";

const db = new DatabaseSync(SQLITE_FILE ?? ":memory:");
db.exec("PRAGMA journal_mode = WAL");
const page = db.prepare("SELECT id FROM pets LIMIT ?");
const schema = v.object({ limit: v.optional(v.number(), 20) });
const headers = { "content-type": "application/json" };
const text = () => JSON.stringify(page.all(v.parse(schema, {}).limit));

if (!listen(() => new Response(text(), { headers }))) {
  const { createServer } = await import("node:http");
  const server = createServer((_request, response) => {
    response.writeHead(200, headers).end(text());
  });
  server.listen(PORT, HOST);
}
