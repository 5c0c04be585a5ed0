/**
 * Runs tests with what they share: one PostgreSQL server, one seed of all properties, and one list of
 * what is missing and how many tests were skipped for it. `deno.json` has its tasks.
 *
 *     deno run -A tests/run.ts test | laws | fuzz | all | bun | node | long [--runs N] [--seed N] [PATH…]
 *
 * - `test`: all `*_test.ts`, the examples in comments, and the adapters of Node and Bun on these.
 * - `laws`: the properties alone.
 * - `fuzz`: the laws of requests, a million in all.
 * - `all`: what takes longer, `*_slow.ts` and `*_fault.ts`; `test` on Bun and on Node; and 20 mutants.
 * - `bun`, `node`: `test` there.
 * - `long`: `*_long.ts`, `*_fault.ts` on Bun and on Node, 20,000 runs of each property, and `mutants.ts`.
 *
 * A number of runs holds for every property; without one, each has its usual number. If no test ends for
 * some minutes, the one that hangs is named and ended. If `EXPECTED_SKIPS` is set, a test that was
 * skipped is a failure, unless the reason begins as one of its lines does.
 */

import { spawn } from "node:child_process";
import {
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { findBinaries } from "./support/postgres/binaries.ts";
import { type Cluster, startCluster } from "./support/postgres/cluster.ts";
import {
  findRuntime,
  type FoundRuntime,
  type Runtime,
} from "./support/runtime.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

/** Deno tests so many files at the same time: more than two cores, because many tests mostly wait. */
const JOBS = `${Math.max(4, availableParallelism())}`;

/** No test of the shared server looks at a database after a crash. */
const SETTINGS = {
  fsync: "off",
  full_page_writes: "off",
  max_connections: "400",
};

/** A command line. */
type Step = readonly [program: Runtime["name"], ...args: readonly string[]];

/** Command lines: the groups one after the other, those of a group at the same time. */
type Steps = readonly (readonly Step[])[];

const DENO: Step = [
  "deno",
  ..."test -A --no-check --config tests/deno.json".split(" "),
];
const PARALLEL: Step = [...DENO, "--parallel"];
const NODE: Step = [
  "node",
  ..."--disable-warning=ExperimentalWarning --test --test-reporter=spec"
    .split(" "),
];

/** Bun ends each test by itself, after 5 s unless told otherwise: too early on a busy machine. */
const BUN: Step = ["bun", "test", "--timeout", "60000"];

const ON_BUN: Step = [...BUN, "tests/"];
const ON_NODE: Step = [...NODE, "--test-concurrency=2", "tests/**/*_test.ts"];

const MUTANTS: Step = [
  "deno",
  ..."run -A --config tests/deno.json tests/mutants.ts".split(" "),
];

/** The tests of adapters that only Node or Bun can run. */
const ADAPTERS: readonly Step[] = [
  [
    ...NODE,
    "--test-concurrency=6", // they mostly wait
    "--test-force-exit",
    "tests/adapters/node/*_test.ts",
    "tests/adapters/serve/fetch_*.ts",
  ],
  [...BUN, "tests/adapters/serve/fetch_"],
];

const KINDS: Readonly<Record<string, (paths: readonly string[]) => Steps>> = {
  test: (paths) =>
    paths.length > 0
      ? [[[...PARALLEL, ...paths]]]
      : [[[...PARALLEL, "--doc", ...FOLDERS], ...ADAPTERS]],
  laws: (paths) => [
    [[...PARALLEL, ...(paths.length > 0 ? paths : ["tests/laws"])]],
  ],
  fuzz: () => [[[...PARALLEL, ...REQUESTS]]],
  all: () =>
    inTurn(
      [...PARALLEL, ...files("tests/**/*_slow.ts").filter(isForAll)],
      ["deno", "task", "test:workers"],
      [...DENO, ...files("tests/faults/*_fault.ts")],
      ON_BUN,
      ON_NODE,
      [...MUTANTS, "--near", "--count", "20"],
    ),
  bun: () => [[ON_BUN]],
  node: () => [[ON_NODE]],
  long: () =>
    inTurn(
      [...DENO, ...files("tests/**/*_long.ts")],
      [...BUN, ...files("tests/faults/*_fault.ts").map((file) => `./${file}`)],
      [...NODE, "--test-concurrency=1", "tests/faults/*_fault.ts"],
      [...PARALLEL, "tests/laws"],
      MUTANTS,
    ),
};

/** As the README says. */
const DURATION =
  "This takes one to two minutes on two free cores, and up to five on busy ones. It leaves out the slow tests (deno task test:all), and skips those that need what is missing here, which it names at the end.";

/** The sources with examples in comments, and the tests. */
const FOLDERS = ["mod.ts", "core", "adapters", "tests"];

/** The laws of requests: four properties. */
const REQUESTS = [
  "tests/laws/openapi_test.ts",
  "tests/laws/any_request_test.ts",
];

/** The number of runs of a property, if it is not its usual one. */
const RUNS: Readonly<Record<string, string>> = {
  fuzz: "250000",
  long: "20000",
};

/** After so many minutes without the end of any test, one hangs. Others may take as long as they like. */
const PATIENCE: Readonly<Record<string, number>> = {
  test: 3,
  bun: 3,
  node: 3,
  all: 25, // clients are generated, with their packages
};

function inTurn(...steps: readonly Step[]): Steps {
  return steps.map((step) => [step]);
}

/** The tests of Workers have packages of their own. */
function isForAll(path: string): boolean {
  return !path.startsWith("tests/workers/");
}

async function main(args: readonly string[]): Promise<boolean> {
  const rest = [...args];
  const kind = rest.shift() ?? "";
  const given = take("--runs", rest);
  const runs = given ?? RUNS[kind];
  const seed = take("--seed", rest) ?? `${Math.floor(Math.random() * 2 ** 31)}`;
  const steps = KINDS[kind]?.(rest);
  if (steps === undefined) throw new RangeError(`No such kind: ${kind}`);
  if (kind === "test" && rest.length === 0) console.log(DURATION);
  const minutes = given === undefined ? PATIENCE[kind] : undefined;

  const folder = mkdtempSync(join(tmpdir(), "petstore-tests-"));
  const notes = process.env.TEST_SKIPPED = join(folder, "skipped");
  // Under `npx -p PACKAGE`, an inner `npx NAME` would run NAME as a command and install nothing.
  delete process.env.npm_config_package;
  writeFileSync(notes, "");
  let cluster: Cluster | undefined;
  try {
    Object.assign(process.env, { LAWS_SEED: seed, DENO_JOBS: JOBS });
    if (runs !== undefined) process.env.LAWS_RUNS = runs;
    if (process.env.TEST_DATABASE_URL === undefined) {
      const { missing } = await findBinaries();
      if (missing === false) {
        cluster = await startCluster({ settings: SETTINGS });
        process.env.TEST_DATABASE_URL = cluster.url("postgres");
      } else process.env.TEST_POSTGRES_MISSING = missing;
    }
    const failed: string[] = [];
    for (const group of steps) {
      await Promise.all(group.map(async (step, i) => {
        const isBeside = i > 0;
        if (!await passes(step, { minutes, isBeside })) failed.push(step[0]);
      }));
    }
    if (!reportSkips(readFileSync(notes, "utf8"))) {
      failed.push("a skip that is not expected");
    }
    console.log(`Properties: --runs ${runs ?? "as usual"} --seed ${seed}`);
    // Of all runtimes, because one may fail long before the last line of another.
    console.log(failed.length > 0 ? `FAILED: ${failed.join(", ")}` : "PASSED");
    return failed.length === 0;
  } finally {
    await cluster?.close();
    rmSync(folder, { recursive: true });
  }
}

/** Takes an option out of the arguments, and returns its value. */
function take(name: string, args: string[]): string | undefined {
  const at = args.indexOf(name);
  if (at < 0) return undefined;
  const [, value = ""] = args.splice(at, 2);
  if (/^-?\d+$/.test(value)) return value;
  throw new RangeError(`${name} must be an integer`);
}

// ---- A step: names what hangs, and counts what is skipped ----

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
function files(pattern: string): readonly string[] {
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

if (import.meta.main) {
  process.exitCode = await main(process.argv.slice(2)) ? 0 : 1;
}
