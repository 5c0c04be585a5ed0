/**
 * Checks that no text makes a regular expression of the product slow: for each, recheck proves that
 * it takes linear time, or finds no slow text.
 */

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
/** Plain JavaScript, without its optional parts. The library itself does not depend on it. */
const RECHECK = "recheck@4.5.0";

/** Reports each literal, and each expression made from a string, which would not be checked. */
const PLUGIN = `
const create = (context) => ({
  Literal(node) {
    if (node.regex) context.report({ node, message: JSON.stringify(node.regex) });
  },
  "[callee.name='RegExp']": (node) => context.report({ node, message: "null" }),
});
export default { name: "gather", rules: { all: { create } } };
`;

interface Report {
  readonly diagnostics: readonly {
    readonly filename: string;
    readonly message: string;
    readonly range: { readonly start: { readonly line: number } };
  }[];
}

interface Checker {
  checkSync(source: string, flags: string, options: { timeout: number }): {
    readonly status: "safe" | "vulnerable" | "unknown";
    readonly attack?: { readonly pattern: string; readonly string: string };
  };
}

const folder = mkdtempSync(join(tmpdir(), "regular-expressions-"));
try {
  const npm = ["install", "--ignore-scripts", "--omit=optional", RECHECK];
  run("npm", [...npm, "--silent", "--prefix", folder]);
  const { checkSync }: Checker = createRequire(join(folder, "x.js"))(
    "recheck/lib/browser.js",
  );
  const all = gather();
  if (all.length < 50) throw new Error(`Only ${all.length} were found`);
  for (const { filename, message, range } of all) {
    const where = `${filename}:${range.start.line}`;
    const expression = JSON.parse(message);
    if (expression === null) throw new Error(`${where} must be a literal`);
    const { pattern, flags } = expression;
    const { status, attack } = checkSync(pattern, flags, { timeout: 300_000 });
    if (status === "safe") continue;
    // With lookaheads it only guesses: not every reported attack is one.
    if (attack && !isSlow(RegExp(pattern, flags), attack.string)) continue;
    throw new Error(`${where} is ${status}: ${attack?.pattern ?? pattern}`);
  }
  console.log(`${all.length} regular expressions are safe`);
} finally {
  rmSync(folder, { recursive: true });
}

/** Finds the regular expressions with a plugin of `deno lint`, which reports each. */
function gather(): Report["diagnostics"] {
  writeFileSync(join(folder, "plugin.js"), PLUGIN);
  const config = { lint: { plugins: ["./plugin.js"], rules: { tags: [] } } };
  writeFileSync(join(folder, "deno.json"), JSON.stringify(config));
  const lint = ["lint", "--json", "--config", join(folder, "deno.json")];
  const sources = ["mod.ts", "core", "adapters"].map((path) => ROOT + path);
  const report: Report = JSON.parse(
    run(process.execPath, [...lint, ...sources]),
  );
  return report.diagnostics;
}

/**
 * Tells whether an expression takes more than 1000 times as long as reading each character once.
 */
function isSlow(expression: RegExp, text: string): boolean {
  const time = ({ source, flags }: RegExp) =>
    Math.min(...Array.from({ length: 3 }, () => {
      const started = performance.now();
      RegExp(source, flags).exec(text);
      return performance.now() - started;
    }));
  return time(expression) > 1000 * time(/^[^]*$/);
}

/**
 * Runs a program, and returns what it wrote. `deno lint` exits with 1 if it has reported anything.
 */
function run(command: string, args: readonly string[]): string {
  try {
    return execFileSync(command, args, { encoding: "utf8" });
  } catch (cause) {
    const { stdout } = cause as { readonly stdout?: string };
    if (stdout) return stdout;
    throw cause;
  }
}
