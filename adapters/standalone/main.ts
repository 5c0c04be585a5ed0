/**
 * The pet store as a program: `start`, `keys issue | list | revoke`, and `copy FROM TO`. The same on
 * Deno, Bun and Node.
 *
 * @module
 */

import { existsSync } from "node:fs";
import module from "node:module";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { missingPackage } from "./missing_package.ts";

// Node compiles every module at every start unless it may keep the result: in NODE_COMPILE_CACHE if
// that is set, otherwise beside the packages, in a folder of whoever installed them.
const packages = fileURLToPath(new URL("../../node_modules", import.meta.url));
const isNode = !("Deno" in globalThis || "Bun" in globalThis);
if (isNode && existsSync(packages)) {
  module.enableCompileCache(`${packages}/.cache/petstore`);
}

// Not imported above: only what is loaded after that call is kept, and a missing package is explained.
const { runCommand } = await import("./command.ts").catch((cause) => {
  const message = missingPackage(cause);
  if (message === undefined) throw cause;
  process.stderr.write(`${message}\n`);
  process.exit(1);
});
await runCommand(process.argv.slice(2));
