/**
 * `deno doc --lint` over every public entry of deno.json, without one complaint: it wants every type
 * that a public one refers to to be public too, and the types of valibot's schemas refer to one that
 * valibot itself does not export. So `GenericSchema`, and nothing else, is let pass.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import process from "node:process";

const ALLOWED =
  /^error\[private-type-ref\]: .* references private type 'GenericSchema'$/;

const { exports }: { readonly exports: Readonly<Record<string, string>> } = JSON
  .parse(
    readFileSync(new URL("../../deno.json", import.meta.url), "utf8"),
  );
const { stderr, status } = spawnSync(
  process.execPath,
  ["doc", "--lint", ...Object.values(exports)],
  {
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1" },
    cwd: new URL("../..", import.meta.url),
  },
);
const complaints = stderr.split(/^(?=error)/m).filter((part) =>
  part.startsWith("error[")
);
const refused = complaints.filter((part) =>
  !ALLOWED.test(part.split("\n", 1)[0] ?? "")
);
process.stderr.write(refused.join(""));
// Where it failed without a complaint, it could not do its work.
if (refused.length > 0 || (status !== 0 && complaints.length === 0)) {
  process.stderr.write(complaints.length === 0 ? stderr : "");
  process.exit(1);
}
console.log(`Documentation of ${Object.keys(exports).length} entries checked`);
