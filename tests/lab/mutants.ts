/**
 * Mutation testing: changes one thing in a copy of the sources, runs the tests that should notice, the
 * nearest first, then all tests; and prints what nothing noticed. Fails if too few were noticed.
 *
 *     deno run -A tests/run.ts mutants [--count N] [--seed N] [PATH…]
 */

import { spawn } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { COVERED } from "../support/covered.ts";
import { type Mutation, mutationsOf } from "./mutations.ts";
import { signal } from "../support/postgres/processes.ts";
import { readText, ROOT } from "../support/repository.ts";

interface Mutant extends Mutation {
  readonly path: string;
}

const SOURCES = ["core/**/*.ts", "adapters/**/*.{ts,js}"];
/** How long the tests of a folder, and all tests may take, in ms: a mutant may loop for ever. */
const TIMEOUT = { near: 180_000, all: 900_000 };
/** How many of 100 mutants must be noticed. All do 94 %, and samples of 150 differ by 4. */
const LEAST = 90;

/** Few runs of each property; and more files at the same time than cores, because many tests mostly wait. */
const ENV: Record<string, string> = {
  LAWS_SEED: "1",
  LAWS_RUNS: "300",
  DENO_JOBS: "4",
};

/** Commands that run tests; each ends at the first failure, if its runtime can. */
const ALL = "deno run -A tests/run.ts test";
const ON_DENO =
  "deno test -A --no-check --parallel --fail-fast --reporter=dot --config tests/deno.json";
const ON_NODE =
  "node --disable-warning=ExperimentalWarning --test --test-timeout=60000";
const ON_BUN = "bun test --bail";

/** The tests of sources that are not, or not only, in the folder of the same name; the nearest first. */
const TESTS: readonly (readonly [sources: RegExp, ...commands: string[]])[] = [
  [
    /^adapters\/http\/node\//,
    `${ON_NODE} tests/adapters/http/node/*_test.ts tests/adapters/http/fetch_server_test.ts`,
  ],
  [
    /^adapters\/standalone\//,
    `${ON_NODE} tests/adapters/standalone/*_test.ts`,
  ],
  [
    /^adapters\/storage\/postgres\//,
    `${ON_DENO} tests/adapters/storage/postgres/faults_slow.ts`,
  ],
  [/^adapters\/http\/bun\//, `${ON_BUN} tests/adapters/http/fetch_server`],
  [/^adapters\/http\/deno\//, `${ON_DENO} tests/adapters/http`],
  [/^adapters\/storage\/[^/]+$/, `${ON_DENO} tests/adapters/storage/sqlite`],
  [
    /^adapters\/storage\/(?:[^/]+$|memory\/)/,
    `${ON_DENO} tests/adapters/storage/memory tests/laws`,
  ],
  [/^core\//, `${ON_DENO} tests/core`, `${ON_DENO} tests/laws`],
  [
    /^(?:adapters|core)\//,
    `${ON_DENO} tests/adapters/options_test.ts tests/adapters/defaults_test.ts`,
  ],
];

function mutantsOf(path: string): readonly Mutant[] {
  const source = readText(path);
  const isProse = /^core\/ope(?:napi|rations)\//.test(path);
  return mutationsOf(source, { isProse }).map((change) => ({
    path,
    ...change,
  }));
}

/** What tests the operations, which have no tests of their own. */
const CONTRACT = "core/handler_contract_test.ts";

/** Returns the command that runs the test of a source: that of its name, or the one that covers it. */
function ownTestOf(path: string): string {
  const own = path.replace(/\.[jt]s$/, "_test.ts");
  const [covering] = Object.entries(COVERED)
    .find(([, sources]) => sources.split(" ").includes(path)) ??
    [existsSync(join(ROOT, "tests", own)) ? own : CONTRACT];
  const run = path.startsWith("adapters/http/node/") ? ON_NODE : ON_DENO;
  return `${run} tests/${covering}`;
}

/** Lists the commands that should notice a change in a file, the nearest tests first. */
function testsOf(path: string): readonly string[] {
  const folder = `tests/${dirname(path)}`;
  const rows = TESTS.filter(([sources]) => sources.test(path));
  return [
    ownTestOf(path),
    ...globSync(`${folder}/*_test.ts`, { cwd: ROOT }).length > 0 &&
        !path.startsWith("adapters/http/node/")
      ? [`${ON_DENO} ${folder}`]
      : [],
    ...rows.flatMap(([, ...commands]) => commands),
  ];
}

/** Runs a command in a copy; resolves to `true` if it succeeds within `limit` ms. */
function passes(
  copy: string,
  command: string,
  limit: number,
): Promise<boolean> {
  const [program = "", ...words] = command.split(" ");
  const args = words.flatMap((word) =>
    word.includes("*") ? globSync(word, { cwd: copy }) : [word]
  );
  const child = spawn(program === "deno" ? process.execPath : program, args, {
    cwd: copy,
    stdio: "ignore",
    detached: true, // so that what the tests started ends with them
    env: { ...process.env, ...ENV },
  });
  const end = () => child.pid && signal(-child.pid, "SIGKILL");
  const timer = setTimeout(end, limit);
  return new Promise((resolve, reject) => {
    child.once("error", reject); // such as Node that is not on PATH
    child.once("close", (code) => {
      clearTimeout(timer);
      end();
      resolve(code === 0);
    });
  });
}

/** Commands that succeed in the sources as they are. */
const sound = new Set<string>();

/** Returns the first command that fails because of a mutant. */
async function findNotice(
  copy: string,
  { path, start, end, to }: Mutant,
  commands: readonly string[],
  limit: number,
): Promise<string | undefined> {
  const file = join(copy, path);
  const source = readFileSync(file, "utf8");
  writeFileSync(file, source.slice(0, start) + to + source.slice(end));
  let failed: string | undefined;
  try {
    for (const command of commands) {
      if (await passes(copy, command, limit)) continue;
      failed = command;
      break;
    }
  } finally {
    writeFileSync(file, source);
  }
  // What fails as it is would seem to notice every mutant.
  if (failed !== undefined && !sound.has(failed)) {
    if (!await passes(copy, failed, 3 * limit)) {
      queue.length = 0;
      throw new Error(`These tests fail as they are: ${failed}`);
    }
    sound.add(failed);
  }
  return failed;
}

function show({ path, start, end, to }: Mutant): string {
  const source = readText(path);
  const line = source.slice(0, start).split("\n").length;
  const from = source.slice(start, end).replaceAll(/\s+/g, " ");
  return `${path}:${line}: ${from} -> ${to || "(nothing)"}`;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: "string", default: "150" },
  },
});
const seed = Number(process.env.LAWS_SEED);
const paths = positionals.length > 0
  ? positionals
  : globSync(SOURCES, { cwd: ROOT }).sort();
const all = paths.flatMap(mutantsOf);
// A multiplicative hash spreads the sample over all files.
const order = (i: number): number => Math.imul(i ^ seed, 0x9e3779b1) >>> 0;
const chosen = all.map((mutant, i) => ({ mutant, order: order(i + 1) }))
  .sort((a, b) => a.order - b.order).slice(0, Number(values.count))
  .map(({ mutant }) => mutant);
const queue = [...chosen];
const survivors: Mutant[] = [];
const folder = mkdtempSync(join(tmpdir(), "petstore-mutants-"));
chmodSync(folder, 0o755); // the account of PostgreSQL reads it
const copies = ["a", "b"].map((name) => join(folder, name));
try {
  ENV.TEST_SKIPPED = join(folder, "skipped");
  const runs = await Promise.allSettled(copies.map(async (copy) => {
    const filter = (path: string): boolean => !/\/\.git$/.test(path);
    cpSync(ROOT, copy, { recursive: true, verbatimSymlinks: true, filter });
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      const tests = testsOf(next.path);
      const notice = await findNotice(copy, next, tests, TIMEOUT.near);
      if (notice === undefined) survivors.push(next);
      const who = notice?.replace(ON_DENO, "").trim() ?? "nothing near";
      console.log(`Noticed by ${who}: ${show(next)}`);
    }
  }));
  for (const run of runs) if (run.status === "rejected") throw run.reason;
  // One at a time: tests with deadlines must not fail for want of a processor.
  const [copy = ""] = copies;
  for (const mutant of survivors.splice(0)) {
    if (await findNotice(copy, mutant, [ALL], TIMEOUT.all)) continue;
    survivors.push(mutant);
    console.log(`Not noticed: ${show(mutant)}`);
  }
} finally {
  rmSync(folder, { recursive: true });
}
const noticed = chosen.length - survivors.length;
console.log(
  `Mutants: ${noticed} of ${chosen.length} noticed (of ${all.length}) --count ${chosen.length} --seed ${seed}`,
);
if (noticed * 100 < LEAST * chosen.length) process.exitCode = 1;
