/**
 * Mutation testing: changes one thing in a copy of the sources, runs the tests that should notice, and
 * prints what nothing noticed. Fails if too few were noticed; some change nothing that can be seen.
 *
 *     deno run -A tests/mutants.ts [--count N] [--seed N] [PATH…]
 *
 * @module
 */

import { spawn } from "node:child_process";
import {
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

interface Mutant {
  readonly path: string;
  readonly at: number;
  readonly from: string;
  readonly to: string;
}

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const SOURCES = [
  "core/**/*.ts",
  "adapters/{client,database,memory,sqlite}/*.ts",
];
/** How long the tests of one folder may take, in ms: a mutant may loop for ever. */
const TIMEOUT = 180_000;
/** How many of 100 mutants must be noticed. */
const LEAST = 85;

// Comments and regular expressions are skipped; then strings, statements, numbers, words, operators.
const TOKEN =
  /\/\*[^]*?\*\/|\/\/.*|(?<=[(=,:?] ?)\/(?![*/])(?:\[(?:\\.|[^\]\\\n])*\]|\\.|[^/\\\n[])+\/[a-z]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|(?<=[;{}]\n) +(?!(?:return|const|let|export|import)\b)(?:(?:await|throw|void) )?[\w.#?]+(?:\([^\n]*\)|(?: [-+*]?=) [^\n]*|\+\+|--);(?=\n)|\b\d[\d_]*n?\b|\b(?:true|false)\b|\bif \(|(?<= )(?:[=!]==|[<>]=?|&&|\|\||\?\?|[-+*/%]|[-+]=)(?= |\n)|!(?=[\w(])/g;

/** What can stand in place of a token. */
const SWAPS: Readonly<Record<string, readonly string[]>> = {
  "===": ["!=="],
  "!==": ["==="],
  "<": ["<=", ">="],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "&&": ["||"],
  "||": ["&&"],
  "??": ["&&"],
  "+": ["-"],
  "-": ["+"],
  "*": ["/"],
  "/": ["*"],
  "%": ["*"],
  "+=": ["-="],
  "-=": ["+="],
  "!": [""],
  "true": ["false"],
  "false": ["true"],
  "if (": ["if (true || ", "if (false && "],
};

function changes(token: string): readonly string[] {
  if (/^\/[/*]/.test(token) || /^\/.+\/[a-z]*$/.test(token)) return [];
  if (/^["']/.test(token)) return [token.length > 2 ? '""' : '"mutant"'];
  if (/^\d/.test(token)) {
    const end = token.endsWith("n") ? "n" : "";
    const value = BigInt(token.replaceAll(/[_n]/g, ""));
    return [`${value + 1n}${end}`, `${value === 0n ? 2 : value - 1n}${end}`];
  }
  return SWAPS[token] ?? [""]; // a statement goes
}

function mutantsOf(path: string): readonly Mutant[] {
  const source = readFileSync(join(ROOT, path), "utf8");
  // Positions stay; what is no type and no import stays too.
  const text = stripTypeScriptTypes(source)
    .replaceAll(
      /^(?:import|export) [^;()=]*?from ".*";$/gm,
      (all) => all.replaceAll(/[^\n]/g, " "),
    );
  const isProse = path.startsWith("core/openapi/"); // what people read
  return [...text.matchAll(TOKEN)].flatMap(({ 0: from, index: at }) =>
    source.startsWith(from, at) && !(isProse && /^["'].* /.test(from))
      ? changes(from).map((to) => ({ path, at, from, to }))
      : []
  );
}

/** The folders of tests that should notice a change in a file, the nearest first. */
function testsOf(path: string): readonly string[] {
  const mirrored = `tests/${dirname(path)}`;
  const further = path.startsWith("core/")
    ? [
      "tests/core",
      "tests/contract/golden",
      "tests/laws",
      "tests/adapters/serve",
    ]
    : /^adapters\/(?:database|memory)\//.test(path)
    ? ["tests/adapters/memory", "tests/adapters/sqlite", "tests/core"]
    : [];
  return [...new Set([mirrored, ...further])]
    .filter((folder) => existsSync(join(ROOT, folder)));
}

/** Runs the tests in a folder of a copy; fulfilled with whether they pass. */
function passes(copy: string, folder: string): Promise<boolean> {
  const child = spawn(process.execPath, [
    ...["test", "-A", "--no-check", "--fail-fast", "--reporter=dot"],
    ...["--config", "tests/deno.json", folder],
  ], {
    cwd: copy,
    stdio: "ignore",
    detached: true, // so that what the tests started ends with them
    env: { ...process.env, LAWS_SEED: "1", LAWS_RUNS: "300" },
  });
  const end = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // they have all ended
    }
  };
  const timer = setTimeout(end, TIMEOUT);
  return new Promise((resolve) =>
    child.once("close", (code) => {
      clearTimeout(timer);
      end();
      resolve(code === 0);
    })
  );
}

async function isNoticed(copy: string, mutant: Mutant): Promise<boolean> {
  const { path, at, from, to } = mutant;
  const file = join(copy, path);
  const source = readFileSync(file, "utf8");
  writeFileSync(
    file,
    source.slice(0, at) + to + source.slice(at + from.length),
  );
  try {
    for (const folder of testsOf(path)) {
      if (!await passes(copy, folder)) return true;
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

/** So many of them, by a seed (mulberry32). */
function sample(
  all: readonly Mutant[],
  { count, seed }: { readonly count: number; readonly seed: number },
): readonly Mutant[] {
  let state = seed;
  const random = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  return all.map((mutant) => ({ mutant, order: random() }))
    .sort((a, b) => a.order - b.order).slice(0, count)
    .map(({ mutant }) => mutant);
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
const chosen = sample(all, { count: Number(values.count), seed });
const queue = [...chosen];
let noticed = 0;
await Promise.all([1, 2].map(async () => {
  const copy = mkdtempSync(join(tmpdir(), "petstore-mutants-"));
  try {
    const filter = (path: string): boolean => !/\/\.git$/.test(path);
    cpSync(ROOT, copy, { recursive: true, verbatimSymlinks: true, filter });
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      if (await isNoticed(copy, next)) noticed++;
      else console.log(`Not noticed: ${show(next)}`);
    }
  } finally {
    rmSync(copy, { recursive: true });
  }
}));
console.log(
  `Mutants: ${noticed} of ${chosen.length} noticed (of ${all.length}) --count ${chosen.length} --seed ${seed}`,
);
if (noticed * 100 < LEAST * chosen.length) process.exitCode = 1;
