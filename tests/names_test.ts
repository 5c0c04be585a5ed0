/**
 * Names of files and tests. The test of `x.ts` is `x_test.ts` in the same place of `tests/`. A source without
 * one is listed in `support/covered.ts`, beside the test that covers it; files of types need none.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import test from "node:test";
import { COVERED } from "./support/covered.ts";
import { pathOf, readText, ROOT } from "./support/repository.ts";
import { skipping, testUnless } from "./support/runtime.ts";

const listed = Object.values(COVERED).flatMap((sources) => sources.split(" "));

const withoutTest = globSync(["mod.ts", "{core,adapters}/**/*.ts"], {
  cwd: ROOT,
}).map((path) => path.replaceAll("\\", "/")).filter((path) =>
  !existsSync(pathOf(`tests/${path.replace(/\.ts$/, "_test.ts")}`)) &&
  hasCode(readText(path))
);

/** Tells whether a source has more than comments, imports and types. */
function hasCode(source: string): boolean {
  return source.replaceAll(/\/\*[^]*?\*\/|^ *\/\/.*$/gm, "")
    .replaceAll(/^import\b[^]*?;$/gm, "")
    .replaceAll(/^(?:export )?interface [^]*?^\}$/gm, "")
    .replaceAll(/^(?:export )?type [^]*?;$/gm, "")
    .trim() !== "";
}

test("every source has the test of its name, or is listed with the test that covers it", () => {
  for (const path of withoutTest) {
    const own = `tests/${path.replace(/\.ts$/, "_test.ts")}`;
    const advice = `write ${own}, or list ${path} in tests/support/covered.ts`;
    assert.ok(listed.includes(path), advice);
  }
});

test("a source is listed exactly if it has no test of its name", () => {
  const stale = listed.filter((path, i) =>
    !withoutTest.includes(path) || listed.indexOf(path) !== i
  );
  const missing = Object.keys(COVERED)
    .filter((path) => !existsSync(pathOf(`tests/${path}`)));
  assert.deepEqual([...stale, ...missing], [], "in tests/support/covered.ts");
});

// Of tests, of clauses, and of tables of both. What is put into a title is not counted.
const LONG_TITLE =
  /(?:\b(?:test|it)\(|\)\(|\basync|^(?= {2}".*":\s*\{))\s*(["`])((?:(?!\1).){81,})\1/gm;

test("the title of a test has at most 80 characters", () => {
  const paths = globSync("**/*.ts", {
    cwd: pathOf("tests"),
    exclude: ["**/node_modules"],
  });
  const long = paths.flatMap((path) =>
    readText(`tests/${path}`)
      .replaceAll(/\$\{[^}]*\}/g, "").matchAll(LONG_TITLE)
      .map(([, , title]) => `${path}: ${title}`).toArray()
  );
  assert.ok(paths.length > 200);
  assert.deepEqual(long, []);
});

const { status, stdout } = spawnSync("git", ["ls-files"], {
  cwd: ROOT,
  encoding: "utf8",
});
const inGit = testUnless(
  skipping(status !== 0 && "git is missing, or this is not a Git checkout"),
);

inGit(
  "the top level holds what people look for, and no litter of a tool",
  () => {
    const paths = stdout.trim().split("\n");
    const topLevel = new Set(paths.map((path) => path.replace(/\/.*/, "")));
    assert.equal(
      [...topLevel].sort().join(" "),
      ".ci .gitattributes .github .gitignore .vscode CHANGELOG.md CONTRIBUTING.md LICENSE README.md " +
        "SECURITY.md adapters core deno.json deno.lock docs mod.ts tests",
    );
  },
);

inGit("files have the same line ends in every checkout", () => {
  const { stdout } = spawnSync("git", ["ls-files", "--eol"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  const others = stdout.trim().split("\n").filter((line) =>
    !/ attr\/text=auto eol=lf\b/.test(line)
  );
  assert.deepEqual(others, []);
});
