/** Runs one command of tests, names what hangs, and counts what is skipped. */

import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { findRuntime, type FoundRuntime, type Runtime } from "./runtime.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** A command line. */
export type Step = readonly [
  program: Runtime["name"],
  ...args: readonly string[],
];

/** The number of tests of a file on Deno, and of those that were skipped. */
interface Tally {
  tests: number;
  skipped: number;
}

const tallies = new Map<string, Tally>();
const runtimes: Readonly<Record<Runtime["name"], FoundRuntime>> = {
  deno: findRuntime("deno"),
  bun: findRuntime("bun"),
  node: findRuntime("node"),
};

/** The files of steps whose runtime is missing, by the reason. */
const notRun = new Map<string, readonly string[]>();

/** The files that Node has run: what Deno skips in them is tested. */
const ranOnNode = new Set<string>();

/** Lists the files that match a pattern, as paths from the root. */
export function files(pattern: string): readonly string[] {
  return globSync(pattern, { cwd: ROOT });
}

/**
 * Runs tests, and prints no more than what fails; resolves to `true` if nothing does. What runs beside
 * another step prints when it ends.
 */
export async function passes(
  [program, ...args]: Step,
  { minutes = Infinity, isBeside }: {
    readonly minutes: number | undefined;
    readonly isBeside: boolean;
  },
): Promise<boolean> {
  const { command, missing } = runtimes[program];
  const paths = filesOf(args);
  if (missing !== undefined) {
    notRun.set(missing, [...notRun.get(missing) ?? [], ...paths]);
    return true;
  }
  const since = performance.now();
  const child = spawn(command, args, {
    cwd: ROOT,
    stdio: ["inherit", "pipe", "pipe"],
    detached: true, // so that all that a hanging test started can be ended
  });
  const held: string[] = [];
  const seen = new Set<string>();
  let file = "";
  let heard = since;
  for (const output of [child.stdout, child.stderr]) {
    createInterface({ input: output }).on("line", (line) => {
      const text = stripVTControlCharacters(line);
      heard = performance.now();
      file = FILE.exec(text)?.[1] ?? file;
      seen.add(file);
      const isDone = DONE.test(text);
      if (program === "deno" && isDone) {
        const tally = tallyOf(file);
        tally.tests++;
        if (/ \.\.\. ignored \(/.test(text)) tally.skipped++;
      }
      if (isDone || OTHER.test(text)) return;
      if (isBeside) held.push(line);
      else console.log(line);
    });
  }
  const end = (): void => {
    child.kill("SIGINT"); // Deno and Node then name the tests that have not ended; Bun limits each
    setTimeout(() => {
      try {
        process.kill(-(child.pid ?? 0), "SIGKILL");
      } catch {
        // all have ended
      }
    }, 3000);
  };
  const timer = setInterval(() => {
    if (performance.now() - heard < minutes * 60_000) return;
    clearInterval(timer);
    const silent = paths.filter((path) =>
      program === "deno" && !seen.has(path)
    );
    console.log(
      `HANGS: no test has ended for ${minutes} minutes. Files of which none has: ${
        silent.join(" ") || "-"
      }`,
    );
    end();
  }, 1000);
  process.once("SIGINT", end).once("SIGTERM", end);
  const code = await new Promise((resolve) => child.once("close", resolve));
  process.off("SIGINT", end).off("SIGTERM", end);
  clearInterval(timer);
  if (program === "node") { for (const path of paths) ranOnNode.add(path); }
  for (const line of held) console.log(line);
  const seconds = Math.round((performance.now() - since) / 1000);
  console.log(`${program}: ${code === 0 ? "passed" : "FAILED"} (${seconds} s)`);
  return code === 0;
}

// What a line tells: the file of tests that it is about, that a test is done, or nothing but that all is well.
const FILE = /^(?:running \d+ tests? from )?\.\/(\S+?\.ts)\b/;
const DONE =
  /^(?:\(pass\) .*|\(skip\) .*|[✔﹣] .*|.* \.\.\. (?:ok|ignored) \(.*\))$/;
// Deno 2.9 warns of `request.signal`, which the tests of servers read.
const OTHER =
  /^(?:Deno\.serve: request\.signal aborts .*|running \d+ tests? from .*|\S+\.ts:|.* \.\.\.|(?:.* \.\.\.)?-+ (?:post-test )?output(?: end)? -+|All tests passed|)$/;

function tallyOf(file: string): Tally {
  const tally = tallies.get(file) ?? { tests: 0, skipped: 0 };
  tallies.set(file, tally);
  return tally;
}

/** The files of tests that arguments name: patterns, files, and folders. */
function filesOf(args: readonly string[]): readonly string[] {
  return args.filter((arg) => /^(?:\.\/)?tests\b/.test(arg)).flatMap((arg) =>
    files(arg.endsWith(".ts") ? arg : join(arg, "**/*_test.ts"))
  );
}

/** Prints why tests were skipped; `false` if `EXPECTED_SKIPS` does not expect a reason. */
export function reportSkips(notes: string): boolean {
  const reasons = Map.groupBy(
    [...new Set(notes.match(/.+/g))].map((note) => note.split("\t")),
    ([file = ""]) => file.replace(ROOT, ""),
  );
  /** By reason, how many tests were skipped for it; 0 if that is not known. */
  const skips = new Map<string, number>();
  for (const [missing, paths] of notRun) {
    const count = paths.reduce((sum, path) => sum + tallyOf(path).tests, 0);
    skips.set(missing, count);
    for (const path of paths) tallies.delete(path);
  }
  for (const path of ranOnNode) tallies.delete(path);
  let elsewhere = 0;
  for (const [file, { skipped }] of tallies) {
    if (!reasons.has(file)) elsewhere += skipped;
  }
  for (const [file, all] of reasons) {
    const reason = all.map(([, reason]) => reason).join(" | ");
    skips.set(reason, (skips.get(reason) ?? 0) + tallyOf(file).skipped);
  }
  const expected = process.env.EXPECTED_SKIPS?.match(/.+/g);
  let allExpected = true;
  for (const [reason, count] of skips) {
    const isExpected = !expected ||
      reason.split(" | ").every((one) =>
        expected.some((start) => one.startsWith(start))
      );
    allExpected &&= isExpected;
    console.log(
      `${isExpected ? "Skipped" : "NOT EXPECTED TO BE SKIPPED"}: ${
        count || "some"
      } tests: ${reason}`,
    );
  }
  if (elsewhere > 0) {
    console.log(
      `For other runtimes: ${elsewhere} tests; deno task test:all runs them`,
    );
  }
  return allExpected;
}
