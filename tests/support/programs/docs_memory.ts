/**
 * Prints how many bytes of memory the docs page uses, after everything else that it needs is
 * loaded.
 */

import { readFile } from "node:fs/promises";
import process from "node:process";
import { docs } from "../../../adapters/docs/mod.ts";
import { sha256 } from "../../../core/sha256.ts";

await readFile(new URL(import.meta.resolve("valibot")));
await sha256("");
const request = new Request("http://localhost/docs");
const before = process.memoryUsage.rss();
const show = await docs();
const taken = process.memoryUsage.rss() - before;
await show(request); // the page is in use until now
process.stdout.write(`${taken}\n`);
