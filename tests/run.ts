/**
 * Runs tests with what they share: one PostgreSQL server, one seed of all properties, and one list of
 * why tests were skipped. `deno.json` has its tasks.
 *
 *     deno run -A tests/run.ts test | laws | fuzz | all | bun | node | long [--runs N] [--seed N] [PATH…]
 *
 * - `test`: all `*_test.ts`, and the examples in comments.
 * - `laws`: the properties alone.
 * - `fuzz`: a million requests.
 * - `all`: what takes longer, `*_slow.ts` and `*_fault.ts`; and `test` on Bun and on Node.
 * - `bun`, `node`: `test` there.
 * - `long`: `*_long.ts`, `*_fault.ts` on Bun and on Node, 20,000 runs of each property, and `mutants.ts`.
 *
 * A number of runs holds for every property; without one, each has its usual number.
 */

import { spawn, spawnSync } from "node:child_process";
import {
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { findBinaries } from "./support/postgres/binaries.ts";
import { type Cluster, startCluster } from "./support/postgres/cluster.ts";
import { skipping } from "./support/skipping.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

/** No test of the shared server looks at a database after a crash. */
const SETTINGS = {
  fsync: "off",
  full_page_writes: "off",
  max_connections: "400",
};

const DENO = [
  ...["deno", "test", "-A", "--no-check", "--reporter=dot"],
  ...["--config", "tests/deno.json"],
];
const PARALLEL = [...DENO, "--parallel"];
const NODE = ["node", "--disable-warning=ExperimentalWarning", "--test"];

const ON_BUN = ["bun", "test", "--dots", "tests/"];
const ON_NODE = [
  ...NODE,
  "--test-concurrency=2",
  "--test-reporter=dot",
  "tests/**/*_test.ts",
];

/** Command lines, one after the other. */
type Steps = readonly (readonly string[])[];

const KINDS: Readonly<Record<string, (paths: readonly string[]) => Steps>> = {
  test: (paths) => [
    paths.length > 0
      ? [...PARALLEL, ...paths]
      : [...PARALLEL, "--doc", "mod.ts", "core", "adapters", "tests"],
  ],
  laws: (
    paths,
  ) => [[...PARALLEL, ...(paths.length > 0 ? paths : ["tests/laws"])]],
  fuzz: () => [[...DENO, "tests/laws/fuzz_slow.ts"]],
  all: () => [
    [...PARALLEL, ...files("tests/**/*_slow.ts").filter(isForAll)],
    ["deno", "task", "test:workers"],
    [...DENO, ...files("tests/faults/*_fault.ts")],
    ON_BUN,
    ON_NODE,
  ],
  bun: () => [ON_BUN],
  node: () => [ON_NODE],
  long: () => [
    [...DENO, ...files("tests/faults/*_long.ts")],
    [
      "bun",
      "test",
      ...files("tests/faults/*_fault.ts").map((file) => `./${file}`),
    ],
    [...NODE, "--test-concurrency=1", "tests/faults/*_fault.ts"],
    [...PARALLEL, "tests/laws"],
    ["deno", "run", "-A", "tests/mutants.ts"],
  ],
};

/** How often a property runs; otherwise it has its usual number. */
const RUNS: Readonly<Record<string, string>> = {
  fuzz: "1000000",
  long: "20000",
};

/** The tests of Workers have packages of their own. */
function isForAll(path: string): boolean {
  return !path.startsWith("tests/workers/");
}

function files(pattern: string): readonly string[] {
  return globSync(pattern, { cwd: ROOT });
}

async function main(args: readonly string[]): Promise<boolean> {
  const rest = [...args];
  const kind = rest.shift() ?? "";
  const runs = take("--runs", rest) ?? RUNS[kind];
  const seed = take("--seed", rest) ?? `${Math.floor(Math.random() * 2 ** 31)}`;
  const steps = KINDS[kind]?.(rest);
  if (steps === undefined) throw new RangeError(`No such kind: ${kind}`);

  const folder = mkdtempSync(join(tmpdir(), "petstore-tests-"));
  const skipped = process.env.TEST_SKIPPED = join(folder, "skipped");
  // Under `npx -p PACKAGE`, an inner `npx NAME` would run NAME as a command and install nothing.
  delete process.env.npm_config_package;
  writeFileSync(skipped, "");
  let cluster: Cluster | undefined;
  try {
    const env: Record<string, string> = { LAWS_SEED: seed };
    if (runs !== undefined) env.LAWS_RUNS = runs;
    if (process.env.TEST_DATABASE_URL === undefined) {
      const { missing } = await findBinaries();
      if (missing === false) {
        cluster = await startCluster({ settings: SETTINGS });
        env.TEST_DATABASE_URL = cluster.url("postgres");
      } else env.TEST_POSTGRES_MISSING = missing;
    }
    let passed = true;
    for (const step of steps) passed = await passes(step, env) && passed;
    for (const reason of new Set(readFileSync(skipped, "utf8").match(/.+/g))) {
      console.log(`Skipped: ${reason}`);
    }
    console.log(`Properties: --runs ${runs ?? "as usual"} --seed ${seed}`);
    return passed;
  } finally {
    await cluster?.close();
    rmSync(folder, { recursive: true });
  }
}

/** The value of an option, which is taken out. */
function take(name: string, args: string[]): string | undefined {
  const at = args.indexOf(name);
  if (at < 0) return undefined;
  const [, value = ""] = args.splice(at, 2);
  if (/^-?\d+$/.test(value)) return value;
  throw new RangeError(`${name} must be an integer`);
}

async function passes(
  [program = "", ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<boolean> {
  // Deno is the one that runs this, whether or not it is on PATH.
  const command = program === "deno" ? process.execPath : program;
  if (spawnSync(command, ["--version"]).error !== undefined) {
    skipping(`${program} is not on PATH`);
    return true;
  }
  const since = performance.now();
  const child = spawn(command, args, {
    cwd: ROOT,
    stdio: ["inherit", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  for (const output of [child.stdout, child.stderr]) {
    createInterface({ input: output }).on("line", (line) => {
      if (!isProgress(line)) console.log(line);
    });
  }
  const code = await new Promise((resolve) => child.once("close", resolve));
  const seconds = Math.round((performance.now() - since) / 1000);
  console.log(`${program}: ${code === 0 ? "passed" : "FAILED"} (${seconds} s)`);
  return code === 0;
}

/** Where there is no terminal, Deno writes a line for each test. */
function isProgress(line: string): boolean {
  return /^[.,!X]*$/.test(line) || line === "All tests passed";
}

process.exitCode = await main(process.argv.slice(2)) ? 0 : 1;
