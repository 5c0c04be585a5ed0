/** Runs one test command, reads the results from the JUnit report, and names what hangs. */

import { parseXml, XmlElement } from "@rgrove/parse-xml";
import { spawn } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { stripVTControlCharacters } from "node:util";
import { signal } from "./postgres/processes.ts";
import { ROOT } from "./repository.ts";
import { findRuntime, type Runtime, skipping } from "./runtime.ts";

/** A command line. */
export type Step = readonly [
  program: Runtime["name"],
  ...args: readonly string[],
];

/** The title of a test, and its result: the name of JUnit's element, if there is one. */
type Result = readonly [title: string, outcome: string];

/** The commands that run tests. */
export const TEST = {
  deno: [
    "deno",
    ..."test -A --no-check --config tests/deno.json --preload tests/support/uncaught.ts"
      .split(" "),
  ],
  /** By default Bun ends each test after 5 s, which is too early on a busy machine. */
  bun: ["bun", "test", "--timeout", "60000"],
  node: [
    "node",
    ..."--disable-warning=ExperimentalWarning --test".split(" "),
  ],
} as const satisfies Readonly<Record<Runtime["name"], Step>>;

/** Options that make a runtime write its report to PATH, in addition to what it prints. */
const REPORT: Readonly<Record<Runtime["name"], string>> = {
  deno: "--junit-path=PATH",
  bun: "--reporter=junit --reporter-outfile=PATH",
  node:
    "--test-reporter=spec --test-reporter-destination=stdout --test-reporter=junit --test-reporter-destination=PATH",
};

/** The titles of tests that passed on some runtime, and of those that were skipped on some. */
const passed = new Set<string>();
const skipped = new Set<string>();

/** Lists the files that match a pattern, as paths from the root. */
export function files(pattern: string): readonly string[] {
  return globSync(pattern, { cwd: ROOT });
}

/** Runs tests, and prints what failed when all have ended; resolves to `true` if nothing did. */
export async function passes(
  [program, ...args]: Step,
  minutes = Infinity,
): Promise<boolean> {
  const { command, missing } = findRuntime(program);
  if (skipping(missing ?? false)) return true;
  const since = performance.now();
  const folder = mkdtempSync(join(tmpdir(), "petstore-report-"));
  const report = join(folder, "junit.xml");
  const isTest = args.some((arg) => /^(?:--)?test$/.test(arg));
  const flags = REPORT[program].split(" ")
    .map((flag) => flag.replace("PATH", report));
  const all = isTest ? args.toSpliced(1, 0, ...flags) : args;
  const child = spawn(command, all, {
    cwd: ROOT,
    stdio: ["inherit", "pipe", "pipe"],
    detached: true, // so that all that a hanging test started can be ended
  });
  const lines: string[] = [];
  let heard = since;
  for (const output of [child.stdout, child.stderr]) {
    createInterface({ input: output }).on("line", (line) => {
      heard = performance.now();
      if (isTest) lines.push(stripVTControlCharacters(line));
      else console.log(line);
    });
  }
  const end = (): void => {
    child.kill("SIGINT"); // Deno then names the tests that have not ended, and Node 26 the files
    if (child.pid) setTimeout(signal, 3000, -child.pid, "SIGKILL");
  };
  const timer = setInterval(() => {
    if (performance.now() - heard < minutes * 60_000) return;
    clearInterval(timer);
    const unnamed = filesOf(args)
      .filter((path) => !lines.some((line) => line.includes(path)));
    console.log(
      `HANGS: no test has ended for ${minutes} minutes. Files that no line names: ${
        unnamed.join(" ") || "-"
      }`,
    );
    end();
  }, 1000);
  process.once("SIGINT", end).once("SIGTERM", end);
  const code = await new Promise((resolve) => child.once("close", resolve));
  process.off("SIGINT", end).off("SIGTERM", end);
  clearInterval(timer);

  const results = isTest ? readReport(report) : undefined;
  rmSync(folder, { recursive: true });
  const failed: string[] = [];
  for (const [title, outcome] of results ?? []) {
    if (outcome === "passed") passed.add(title);
    else if (outcome === "skipped") skipped.add(title);
    else failed.push(title);
  }
  let verdict = "passed";
  if (code !== 0 || failed.length > 0) verdict = "FAILED";
  else if (isTest && !results?.length) verdict = "FAILED: no test was run";
  if (verdict !== "passed") {
    for (const line of lines) if (!QUIET.test(line)) console.log(line);
    for (const title of failed) console.log(`FAILED: ${title}`);
    if (results === undefined && isTest) {
      const last = lines.slice(-9).join("\n");
      console.log(`No report is complete. The last lines:\n${last}`);
    }
  }
  const seconds = Math.round((performance.now() - since) / 1000);
  const count = results === undefined ? "" : `${countOf(results)}, `;
  console.log(`${program}: ${verdict} (${count}${seconds} s)`);
  return verdict === "passed";
}

// Lines of no use next to a failure. Deno 2.9 warns about `request.signal`, which the tests of servers read.
const QUIET =
  /^(?:\((?:pass|skip)\) .*|[✔﹣] .*|.* \.\.\. (?:ok|ignored) \(.*|Deno\.serve: request\.signal aborts .*|running \d+ tests? from .*|\S+\.ts:|)$/;

function countOf(results: readonly Result[]): string {
  const rest = results.filter(([, outcome]) => outcome === "skipped").length;
  const ran = results.length - rest;
  return `${ran} ${ran === 1 ? "test" : "tests"}${
    rest > 0 ? `, ${rest} skipped` : ""
  }`;
}

/**
 * Reads a report; `undefined` if the runtime did not write all of it, because it crashed or was
 * ended.
 */
function readReport(path: string): readonly Result[] | undefined {
  try {
    // Node leaves in it characters that XML does not allow.
    const text = readFileSync(path, "utf8").replaceAll(/[^\P{Cc}\t\n\r]/gu, "");
    const { root } = parseXml(text);
    return root === null ? [] : resultsIn(root);
  } catch {
    return undefined;
  }
}

function resultsIn(
  { name, attributes, children }: XmlElement,
): readonly Result[] {
  const inner = children.filter((child) => child instanceof XmlElement);
  if (name !== "testcase") return inner.flatMap(resultsIn);
  const outcome = inner.map((child) => child.name)
    .find((name) => /^(?:skipped|failure|error)$/.test(name)) ?? "passed";
  // Deno already has it on one line.
  return [[attributes.name?.replaceAll("\n", "\\n") ?? "", outcome]];
}

/** The files of tests that arguments name: patterns, files, and folders. */
function filesOf(args: readonly string[]): readonly string[] {
  return args.filter((arg) => /^(?:\.\/)?tests\b/.test(arg)).flatMap((arg) =>
    files(arg.endsWith(".ts") ? arg : join(arg, "**/*_test.ts"))
  );
}

/**
 * Prints how many tests were skipped, and what is missing for them, a note a line; `false` if a
 * reason is not expected. Default: what `EXPECTED_SKIPS` says.
 */
export function reportSkips(
  notes: string,
  expectedSkips: string | undefined = process.env.EXPECTED_SKIPS,
): boolean {
  const reasons = new Set(notes.match(/.+/g));
  const expected = expectedSkips?.match(/.+/g);
  let allExpected = true;
  for (const reason of reasons) {
    const isExpected = expected?.some((start) => reason.startsWith(start)) ??
      true;
    allExpected &&= isExpected;
    const kind = isExpected ? "Skipped" : "NOT EXPECTED TO BE SKIPPED";
    console.log(`${kind}: ${reason}`);
  }
  const count = skipped.difference(passed).size;
  if (count > 0) {
    console.log(
      `Tests not run: ${count}, for what is missing or for other runtimes (deno task test:all runs those)`,
    );
  }
  return allExpected;
}
