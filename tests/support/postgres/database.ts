/** New databases for tests. */

import { randomUUID } from "node:crypto";
import { runSql } from "./sql.ts";

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

/** Removes a database that {@linkcode createDatabase} made, whoever is connected to it. */
export async function dropDatabase(url: string, server: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  await runSql(server, `drop database if exists ${name} with (force)`);
}
