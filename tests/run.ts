/**
 * Runs tests with what they share: one PostgreSQL server, one seed for all properties, and one list
 * of what is missing and how many tests were skipped because of it. `deno.json` has the tasks.
 *
 *     deno run -A tests/run.ts test | laws | all | node | long [--runs N] [--seed N] [PATH…]
 *
 * - `test`: all `*_test.ts`, the examples in comments, and the adapters of Node and Bun on these.
 * - `laws`: the properties alone.
 * - `all`: what takes longer, `*_slow.ts` and most `*_fault.ts`; and `test` on Bun and on Node.
 * - `node`: `test` there, or the files that PATH matches.
 * - `long`: `*_long.ts`, the other `*_fault.ts`, all of them on Bun and on Node, and 20,000 runs of each property.
 *
 * `--runs` applies to every property, but is at most 2000 where PostgreSQL is asked; without it,
 * each has its usual number. If no test ends for some minutes, the hanging one is named and ended.
 * If `EXPECTED_SKIPS` is set, a skipped test is a failure, unless its reason begins like one of the
 * lines in it.
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { findBinaries } from "./support/postgres/binaries.ts";
import {
  type Cluster,
  FAST,
  startCluster,
} from "./support/postgres/cluster.ts";
import {
  files,
  passes,
  reportSkips,
  type Step,
  TEST,
} from "./support/run_step.ts";

/**
 * How many files Deno tests at the same time: more than two cores need, because many tests mostly
 * wait.
 */
const JOBS = `${Math.max(4, availableParallelism())}`;

/** Of the PostgreSQL server that all tests share. */
const SETTINGS = { ...FAST, max_connections: "400" };

/** Command lines: the groups one after the other, those of a group at the same time. */
type Steps = readonly (readonly Step[])[];

const { deno: DENO, bun: BUN, node: NODE } = TEST;
const PARALLEL: Step = [...DENO, "--parallel"];

const ON_BUN: Step = [...BUN, "tests/"];
const ON_NODE: Step = [...NODE, "--test-concurrency=2", "tests/**/*_test.ts"];

/** The tests of adapters that only Node or Bun can run. */
const ADAPTERS: readonly Step[] = [
  [
    ...NODE,
    "--test-concurrency=6", // they mostly wait
    "--test-force-exit",
    "tests/adapters/http/node/*_test.ts",
    "tests/adapters/http/fetch_*.ts",
  ],
  [...BUN, "tests/adapters/http/fetch_"],
];

const FAULTS = files("tests/lab/faults/*_fault.ts");
/** Faults whose tests mostly wait for time limits, so that others may run beside them. */
const WAITING = /deadlines|gateways|haproxy|nginx|pgbouncer/;
/** Faults that only `long` has time for. */
const LONG = /overload|pieces|pipelining/;

const KINDS: Readonly<Record<string, (paths: readonly string[]) => Steps>> = {
  test: (paths) =>
    paths.length > 0
      ? [[[...PARALLEL, ...paths]]]
      : [[[...PARALLEL, "--doc", ...FOLDERS], ...ADAPTERS]],
  laws: (paths) => [
    [[...PARALLEL, ...(paths.length > 0 ? paths : ["tests/laws"])]],
  ],
  all: () => {
    const waiting = FAULTS.filter((path) => WAITING.test(path));
    const others = FAULTS.filter((path) => !WAITING.test(path));
    return [
      [[...PARALLEL, ...files("tests/**/*_slow.ts").filter(isForAll)]],
      [[...DENO, ...others.filter((path) => !LONG.test(path))]],
      [["deno", "task", "test:workers"], [...DENO, ...waiting], ON_BUN],
      [ON_NODE],
    ];
  },
  node: (paths) => [
    [paths.length > 0 ? [...NODE, "--test-concurrency=2", ...paths] : ON_NODE],
  ],
  long: () =>
    inTurn(
      [...DENO, ...files("tests/**/*_long.ts")],
      [...DENO, ...FAULTS.filter((path) => LONG.test(path))],
      [...BUN, ...FAULTS.map((file) => `./${file}`)],
      [...NODE, "--test-concurrency=1", "tests/lab/faults/*_fault.ts"],
      [...PARALLEL, "tests/laws"],
    ),
};

/** As the README says. */
const DURATION =
  "This takes one to two minutes on two free cores, and up to five on busy ones. It leaves out the slow tests (deno task test:all), and skips those that need what is missing here, which it names at the end.";

/** The sources with examples in comments, and the tests. */
const FOLDERS = ["mod.ts", "core", "adapters", "tests"];

/** If no test ends for this many minutes, one hangs. Otherwise tests may take any time. */
const PATIENCE: Readonly<Record<string, number>> = {
  test: 3,
  node: 3,
  all: 25, // clients are generated, with their packages
};

function inTurn(...steps: readonly Step[]): Steps {
  return steps.map((step) => [step]);
}

/** The tests of Workers have their own packages. */
function isForAll(path: string): boolean {
  return !path.startsWith("tests/lab/workers/");
}

async function main(args: readonly string[]): Promise<boolean> {
  const rest = [...args];
  const kind = rest.shift() ?? "";
  const given = take("--runs", rest);
  const runs = given ?? (kind === "long" ? "20000" : undefined);
  const seed = take("--seed", rest) ?? `${Math.floor(Math.random() * 2 ** 31)}`;
  const steps = KINDS[kind]?.(rest);
  if (steps === undefined) throw new RangeError(`No such kind: ${kind}`);
  if (kind === "test" && rest.length === 0) console.log(DURATION);
  const minutes = given === undefined ? PATIENCE[kind] : undefined;

  const folder = mkdtempSync(join(tmpdir(), "petstore-tests-"));
  const notes = process.env.TEST_SKIPPED = join(folder, "skipped");
  // Under `npx -p PACKAGE`, an inner `npx NAME` would run NAME as a command and install nothing.
  delete process.env.npm_config_package;
  // Tests compare what programs print; this would prevail over NO_COLOR.
  delete process.env.FORCE_COLOR;
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
      await Promise.all(group.map(async (step) => {
        if (!await passes(step, minutes)) failed.push(step[0]);
      }));
    }
    if (!reportSkips(readFileSync(notes, "utf8"))) {
      failed.push("a skip that is not expected");
    }
    if (rest.length === 0) console.log(proportion());
    console.log(`Properties: --runs ${runs ?? "as usual"} --seed ${seed}`);
    // For all runtimes, because one may fail long before the last line of another.
    console.log(failed.length > 0 ? `FAILED: ${failed.join(", ")}` : "PASSED");
    return failed.length === 0;
  } finally {
    await cluster?.close();
    rmSync(folder, { recursive: true });
  }
}

/** Says how many lines of test there are for each line of product, and of what is shipped of them. */
function proportion(): string {
  const lines = (pattern: string): number =>
    files(pattern).filter((path) => !path.includes("node_modules"))
      .map((path) => readFileSync(path, "utf8").split("\n").length - 1)
      .reduce((sum, count) => sum + count, 0);
  const product = lines("{mod,core/**/*,adapters/**/*}.ts");
  const shipped = lines("tests/{contract,judge,exam}/**/*.ts") / product;
  const tests = lines(
    "tests/{*,{adapters,core,docs,lab,laws,package,support}/**/*}.ts",
  ) / product;
  return `Lines of test for each line of product: ${
    tests.toFixed(2)
  }, and shipped ones: ${shipped.toFixed(2)}`;
}

/** Removes an option from the arguments, and returns its value. */
function take(name: string, args: string[]): string | undefined {
  const at = args.indexOf(name);
  if (at < 0) return undefined;
  const [, value = ""] = args.splice(at, 2);
  if (/^-?\d+$/.test(value)) return value;
  throw new RangeError(`${name} must be an integer`);
}

process.exitCode = await main(process.argv.slice(2)) ? 0 : 1;
