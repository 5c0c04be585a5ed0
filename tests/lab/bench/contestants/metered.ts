// Runs a server with a meter: `metered.ts PROGRAM [ARGUMENTS]`. It answers each line of standard
// input with the processor time of all threads so far and the memory, and ends with that input.
import process from "node:process";
import { pathToFileURL } from "node:url";
import { reply } from "../reply.ts";

process.stdin.on("data", () => {
  reply({ ...process.cpuUsage(), memory: process.memoryUsage.rss() });
});
process.stdin.on("end", () => process.exit());

const [program = ""] = process.argv.splice(2, 1);
await import(pathToFileURL(program).href);
