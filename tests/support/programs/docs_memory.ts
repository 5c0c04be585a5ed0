/**
 * Prints how many bytes of memory the docs page uses, after everything else that it needs is
 * loaded.
 */

import { readFile } from "node:fs/promises";
import process from "node:process";
import { docs } from "../../../adapters/docs/mod.ts";
import { toResponse } from "../../../core/handler.ts";
import { sha256 } from "../../../core/sha256.ts";

await readFile(new URL(import.meta.resolve("valibot")));
await sha256("");
const request = new Request("http://localhost/docs");
const before = process.memoryUsage.rss();
const [page] = await docs();
const taken = process.memoryUsage.rss() - before;
const answer = await page?.run({ request } as never); // the page is in use until now
if (answer === undefined || !toResponse(answer).ok) throw new Error("no page");
process.stdout.write(`${taken}\n`);
