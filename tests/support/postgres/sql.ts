/** Single statements, each on its own connection, connections that stay open, and new databases. */

import { randomUUID } from "node:crypto";
import type { TestContext } from "node:test";
import { Client } from "pg";
import { atEnd } from "../at_end.ts";

/** A row, by names of columns. */
export type Row = Readonly<Record<string, unknown>>;

/** Connects, within 10 s, runs one statement or several, and disconnects. */
export async function runSql(
  url: string,
  sql: string,
): Promise<readonly Row[]> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
  });
  // The query is rejected as well if the connection ends.
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query(sql);
    return rows ?? [];
  } finally {
    await client.end();
  }
}

/** Opens a connection, for transactions that stay open; it is closed after the test. */
export async function connect(t: TestContext, url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on("error", () => {}); // its server may end first
  atEnd(t, () => client.end());
  await client.connect();
  return client;
}

/** The URL of a new and empty database, in UTF-8, on the server of a URL. */
export async function createDatabase(server: string): Promise<string> {
  const name = `petstore_test_${randomUUID().replaceAll("-", "")}`;
  await runSql(
    server,
    `create database ${name} template template0 encoding 'UTF8'`,
  );
  const url = new URL(server);
  url.pathname = name;
  return url.href;
}
