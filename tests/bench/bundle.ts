/**
 * The part `bundle` of the bench: the bytes of our modules as one minified file, by esbuild.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { install } from "./http/install.ts";
import { outputOf } from "./http/output.ts";
import { findRuntimes } from "./http/runtimes.ts";
import type { BenchOptions } from "./options.ts";
import type { Table } from "./table.ts";

/** A bundle: a module and all that it imports. */
interface Bundle {
  readonly name: string;
  /** The module, from this folder. */
  readonly entry: string;
  /** Packages that are left out. */
  readonly without?: readonly string[];
}

const BUNDLES: readonly Bundle[] = [
  { name: "createHandler", entry: "bundle/core.ts" },
  {
    name: "createHandler without valibot",
    entry: "bundle/core.ts",
    without: ["valibot"],
  },
  { name: "mod.ts", entry: "../../mod.ts" },
  { name: "client.ts", entry: "../../adapters/client/mod.ts" },
  { name: "the service in memory", entry: "bundle/ours.ts" },
  {
    name: "the service on hono",
    entry: "contestants/hono.ts",
    without: ["@hono/node-server"], // Deno and Bun need none
  },
];

const ESBUILD = fileURLToPath(
  new URL("contestants/node_modules/esbuild/bin/esbuild", import.meta.url),
);
const LIMIT = 120; // seconds

/** Bundles everything once: sizes do not wander. */
export async function run(_options: BenchOptions): Promise<readonly Table[]> {
  install();
  const [node] = findRuntimes(["node"]);
  if (node === undefined) return [];
  const rows: (string | number)[][] = [];
  for (const { name, entry, without = [] } of BUNDLES) {
    console.error(`Bundle of ${name}`);
    const text = await outputOf(node.command, [
      ESBUILD,
      "--bundle",
      "--minify",
      "--format=esm",
      "--platform=neutral",
      "--main-fields=module,main",
      "--external:node:*",
      ...without.map((name) => `--external:${name}`),
      fileURLToPath(new URL(entry, import.meta.url)),
    ], { seconds: LIMIT });
    const bytes = new TextEncoder().encode(text);
    rows.push([name, bytes.length, gzipSync(bytes, { level: 9 }).length]);
  }
  return [{
    title: "Bundles: bytes",
    columns: ["module", "minified", "gzip"],
    rows,
    notes: [
      "createHandler is core/handler.ts with all that it imports: no storage, no keys, no adapter. valibot's share is what the second row lacks.",
      "The service in memory is mod.ts with a storage and keys, and the OpenAPI document, which the one on hono does not have; neither has a log or the page.",
    ],
  }];
}
