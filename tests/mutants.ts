/**
 * Mutation testing: changes one thing in a copy of the sources, runs the tests that should notice, the
 * nearest first, then all tests; and prints what nothing noticed. Fails if too few were noticed.
 *
 *     deno run -A tests/mutants.ts [--count N] [--seed N] [PATH…]
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
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { findBinaries } from "./support/postgres/binaries.ts";
import { startCluster } from "./support/postgres/cluster.ts";

interface Mutant {
  readonly path: string;
  readonly at: number;
  readonly from: string;
  readonly to: string;
}

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const SOURCES = ["core/**/*.ts", "adapters/**/*.{ts,js}"];
/** How long the tests of a folder may take, and all tests, in ms: a mutant may loop for ever. */
const TIMEOUT = { near: 180_000, all: 900_000 };
/** How many of 100 mutants must be noticed: of 150 in a new sample 95 % were. Another of that size differs by 4. */
const LEAST = 90;

/** Few runs of each property; and more files at the same time than cores, because many tests mostly wait. */
const ENV: Record<string, string> = {
  LAWS_SEED: "1",
  LAWS_RUNS: "300",
  DENO_JOBS: "4",
};

/** Of the PostgreSQL server that all tests share. */
const SETTINGS = { fsync: "off", max_connections: "400" };

/** Commands that run tests; each ends at the first failure, if its runtime can. */
const ALL = "deno run -A tests/run.ts test";
const ON_DENO =
  "deno test -A --no-check --parallel --fail-fast --reporter=dot --config tests/deno.json";
const ON_NODE = "node --disable-warning=ExperimentalWarning --test";
const ON_BUN = "bun test --bail";

/** The tests of sources that are not, or not only, in the folder of the same name; the nearest first. */
const TESTS: readonly (readonly [sources: RegExp, ...commands: string[]])[] = [
  [
    /^adapters\/node\//,
    `${ON_NODE} tests/adapters/node/*_test.ts tests/adapters/serve/fetch_server_test.ts`,
  ],
  [
    /^adapters\/standalone\//,
    `${ON_NODE} tests/adapters/standalone/*_test.ts`,
  ],
  [
    /^adapters\/postgres\//,
    `${ON_DENO} tests/adapters/postgres/faults_slow.ts`,
  ],
  [/^adapters\/bun\//, `${ON_BUN} tests/adapters/serve/fetch_server`],
  [/^adapters\/deno\//, `${ON_DENO} tests/adapters/serve`],
  [/^adapters\/database\//, `${ON_DENO} tests/adapters/sqlite`],
  [
    /^adapters\/(?:database|memory)\//,
    `${ON_DENO} tests/adapters/memory tests/laws`,
  ],
  [/transfer\.ts$/, `${ON_DENO} tests/adapters/standalone/copy_test.ts`],
  [/^core\//, `${ON_DENO} tests/core`, `${ON_DENO} tests/laws`],
  [/^(?:adapters|core)\//, `${ON_DENO} tests/adapters/options_test.ts`],
];

// Comments and regular expressions are skipped; then strings, statements, numbers, words, operators.
const TOKEN =
  /\/\*[^]*?\*\/|\/\/.*|(?<=[(=,:?|&]\s*)\/(?![*/])(?:\[(?:\\.|[^\]\\\n])*\]|\\.|[^/\\\n[])+\/[a-z]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|(?<=[;{}]\n) +(?!(?:return|const|let|export|import)\b)(?:(?:await|throw|void) )?[\w.#?]+(?:\([^\n]*\)|(?: [-+*]?=) [^\n]*|\+\+|--);(?=\n)|\b\d[\d_]*n?\b|\b(?:true|false)\b|\bif \(|(?<= )(?:[=!]==|[<>]=?|&&|\|\||\?\?|[-+*/%]|[-+]=)(?= |\n)|!(?=[\w(])/g;

/** What can stand in place of a token. */
const SWAPS: ReadonlyMap<string, readonly string[]> = new Map(
  ("=== !==, !== ===, < <= >=, <= < >, > >= <=, >= > <, && ||, || &&, ?? &&, " +
    "+ -, - +, * /, / *, % *, += -=, -= +=, true false, false true")
    .split(", ").map((row) => row.split(" "))
    .map(([from = "", ...to]) => [from, to]),
);

function changes(token: string): readonly string[] {
  if (/^\/[/*]/.test(token) || /^\/.+\/[a-z]*$/.test(token)) return [];
  if (/^["']/.test(token)) return [token.length > 2 ? '""' : '"mutant"'];
  if (/^\d/.test(token)) {
    const end = token.endsWith("n") ? "n" : "";
    const value = BigInt(token.replaceAll(/[_n]/g, ""));
    return [`${value + 1n}${end}`, `${value === 0n ? 2 : value - 1n}${end}`];
  }
  if (token === "if (") return ["if (true || ", "if (false && "];
  return SWAPS.get(token) ?? [""]; // a statement goes, or a negation
}

function mutantsOf(path: string): readonly Mutant[] {
  const source = readFileSync(join(ROOT, path), "utf8");
  const blank = (all: string): string => all.replaceAll(/[^\n]/g, " ");
  const isProse = /^core\/ope(?:napi|rations)\//.test(path); // people read it
  // Positions stay; what is no type, no import and no page of prose stays too.
  const text = stripTypeScriptTypes(source)
    .replaceAll(/^(?:import|export) [^;()=]*?from ".*";$/gm, blank)
    .replaceAll(isProse ? /`\n(?:\\.|[^`\\])*`/g : /$^/g, blank)
    .replaceAll(/(?<=^const HELP = )`[^`]*`/gm, blank);
  return [...text.matchAll(TOKEN)].flatMap(({ 0: from, index: at }) =>
    source.startsWith(from, at) && !(isProse && /^["'].* /.test(from))
      ? changes(from).map((to) => ({ path, at, from, to }))
      : []
  );
}

/** Lists the commands that should notice a change in a file, the nearest tests first. */
function testsOf(path: string): readonly string[] {
  const folder = `tests/${dirname(path)}`;
  const own = `tests/${path.replace(/\.[jt]s$/, "_test.ts")}`;
  const rows = TESTS.filter(([sources]) => sources.test(path));
  return [
    ...existsSync(join(ROOT, own)) ? [`${ON_DENO} ${own}`] : [],
    ...globSync(`${folder}/*_test.ts`, { cwd: ROOT }).length > 0 &&
        !path.startsWith("adapters/node/")
      ? [`${ON_DENO} ${folder}`]
      : [],
    ...rows.flatMap(([, ...commands]) => commands),
  ];
}

/** Runs a command in a copy; resolves to `true` if it succeeds in time. */
function passes(copy: string, command: string): Promise<boolean> {
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
  const end = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // all have ended
    }
  };
  const timer = setTimeout(end, command === ALL ? TIMEOUT.all : TIMEOUT.near);
  return new Promise((resolve, reject) => {
    child.once("error", reject); // such as Node that is not on PATH
    child.once("close", (code) => {
      clearTimeout(timer);
      end();
      resolve(code === 0);
    });
  });
}

async function isNoticed(
  copy: string,
  mutant: Mutant,
  commands = testsOf(mutant.path),
): Promise<boolean> {
  const { path, at, from, to } = mutant;
  const file = join(copy, path);
  const source = readFileSync(file, "utf8");
  writeFileSync(
    file,
    source.slice(0, at) + to + source.slice(at + from.length),
  );
  try {
    for (const command of commands) {
      if (!await passes(copy, command)) return true;
    }
    return false;
  } finally {
    writeFileSync(file, source);
  }
}

function show({ path, at, from, to }: Mutant): string {
  const before = readFileSync(join(ROOT, path), "utf8").slice(0, at);
  return `${path}:${before.split("\n").length}: ${from.trim()} -> ${
    to || "(nothing)"
  }`;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: "string", default: "150" },
    seed: { type: "string", default: `${Date.now() % 2 ** 31}` },
  },
});
const seed = Number(values.seed);
const paths = positionals.length > 0
  ? positionals
  : globSync(SOURCES, { cwd: ROOT }).sort();
const all = paths.flatMap(mutantsOf);
// A multiplicative hash spreads the sample over all files.
const order = (i: number): number => Math.imul(i ^ seed, 0x9e3779b1) >>> 0;
const chosen = all.map((mutant, i) => ({ mutant, order: order(i + 1) }))
  .sort((a, b) => a.order - b.order).slice(0, Number(values.count))
  .map(({ mutant }) => mutant);
// The tests must pass as they are, or every mutant would seem to be noticed.
const nearest = new Set(
  chosen.flatMap(({ path }) => testsOf(`${dirname(path)}/mod.ts`)),
);
const queue = [...chosen];
const survivors: Mutant[] = [];
const folder = mkdtempSync(join(tmpdir(), "petstore-mutants-"));
chmodSync(folder, 0o755); // the account of PostgreSQL reads it
const copies = ["a", "b"].map((name) => join(folder, name));
const { missing } = await findBinaries();
const cluster = missing === false
  ? await startCluster({ settings: SETTINGS })
  : undefined;
try {
  if (cluster !== undefined) ENV.TEST_DATABASE_URL = cluster.url("postgres");
  const runs = await Promise.allSettled(copies.map(async (copy, i) => {
    const filter = (path: string): boolean => !/\/\.git$/.test(path);
    cpSync(ROOT, copy, { recursive: true, verbatimSymlinks: true, filter });
    await assertSound(copy, [...nearest].filter((_, at) => at % 2 === i));
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      const noticed = await isNoticed(copy, next);
      if (!noticed) survivors.push(next);
      console.log(
        `${noticed ? "Noticed" : "Survived the nearest tests"}: ${show(next)}`,
      );
    }
  }));
  for (const run of runs) if (run.status === "rejected") throw run.reason;
  // One at a time: tests with deadlines must not fail for want of a processor.
  const [copy = ""] = copies;
  if (survivors.length > 0) await assertSound(copy, [ALL]);
  for (const mutant of survivors.splice(0)) {
    if (await isNoticed(copy, mutant, [ALL])) continue;
    survivors.push(mutant);
    console.log(`Not noticed: ${show(mutant)}`);
  }
} finally {
  await cluster?.close();
  rmSync(folder, { recursive: true });
}
const noticed = chosen.length - survivors.length;
console.log(
  `Mutants: ${noticed} of ${chosen.length} noticed (of ${all.length}) --count ${chosen.length} --seed ${seed}`,
);
if (noticed * 100 < LEAST * chosen.length) process.exitCode = 1;

async function assertSound(
  copy: string,
  commands: readonly string[],
): Promise<void> {
  for (const command of commands) {
    if (await passes(copy, command)) continue;
    throw new Error(`These tests fail as they are: ${command}`);
  }
}
