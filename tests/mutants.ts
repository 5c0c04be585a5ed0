/**
 * Mutation testing: changes one thing in a copy of the sources, runs the tests that should notice, and
 * prints what nothing noticed. Fails if too few were noticed; some change nothing that can be seen.
 *
 *     deno run -A tests/mutants.ts [--count N] [--seed N] [PATH…]
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
  "adapters/{client,d1,database,memory,sqlite}/*.ts",
];
/** How long the tests of one folder may take, in ms: a mutant may loop for ever. */
const TIMEOUT = 180_000;
/** How many of 100 mutants must be noticed. */
const LEAST = 85;

// Comments and regular expressions are skipped; then strings, statements, numbers, words, operators.
const TOKEN =
  /\/\*[^]*?\*\/|\/\/.*|(?<=[(=,:?] ?)\/(?![*/])(?:\[(?:\\.|[^\]\\\n])*\]|\\.|[^/\\\n[])+\/[a-z]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|(?<=[;{}]\n) +(?!(?:return|const|let|export|import)\b)(?:(?:await|throw|void) )?[\w.#?]+(?:\([^\n]*\)|(?: [-+*]?=) [^\n]*|\+\+|--);(?=\n)|\b\d[\d_]*n?\b|\b(?:true|false)\b|\bif \(|(?<= )(?:[=!]==|[<>]=?|&&|\|\||\?\?|[-+*/%]|[-+]=)(?= |\n)|!(?=[\w(])/g;

/** What can stand in place of a token. */
const SWAPS: ReadonlyMap<string, readonly string[]> = new Map(
  [
    ...["=== !==", "!== ===", "< <= >=", "<= < >", "> >= <=", ">= > <"],
    ...["&& ||", "|| &&", "?? &&", "+ -", "- +", "* /", "/ *", "% *"],
    ...["+= -=", "-= +=", "true false", "false true"],
  ].map((row) => row.split(" ")).map(([from = "", ...to]) => [from, to]),
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
  const storages = ["tests/adapters/memory", "tests/adapters/sqlite"];
  const further = path.startsWith("core/")
    ? ["tests/core", "tests/contract/golden", "tests/laws"]
    : path.endsWith("transfer.ts")
    ? ["tests/adapters/standalone/copy_test.ts"]
    : /^adapters\/(?:database|memory)\//.test(path)
    ? [...storages, "tests/core"]
    : [];
  return [...new Set([`tests/${dirname(path)}`, ...further])]
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
      // all have ended
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
const queue = [...chosen];
let noticed = 0;
// The tests of these must pass as they are, or every mutant would seem to be noticed.
const sound = [["core/service.ts"], [
  "adapters/client/mod.ts",
  "adapters/memory/mod.ts",
]];
await Promise.all(sound.map(async (unchanged) => {
  const copy = mkdtempSync(join(tmpdir(), "petstore-mutants-"));
  try {
    const filter = (path: string): boolean => !/\/\.git$/.test(path);
    cpSync(ROOT, copy, { recursive: true, verbatimSymlinks: true, filter });
    for (const path of unchanged) {
      const isBroken = await isNoticed(copy, { path, at: 0, from: "", to: "" });
      if (isBroken) throw new Error(`The tests of ${path} fail as they are`);
    }
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
