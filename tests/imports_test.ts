/**
 * Imports point one way. The core imports itself and valibot, an adapter imports the core and rooms
 * that adapters share, the standalone server imports all of them, and tests import anything.
 */
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { posix } from "node:path";
import test from "node:test";
import { readText, ROOT } from "./support/repository.ts";
import { testUnless } from "./support/runtime.ts";

/**
 * The room of a file in `adapters/`: `storage/sqlite`, `storage` for what storages share, or
 * `client`.
 */
function roomOf(path: string): string {
  const [, floor = "", room = "", file] = path.split("/");
  return file === undefined ? floor : `${floor}/${room}`;
}

/** Files that import no `node:` module and name no runtime, so that they run in a browser too. */
const ANYWHERE =
  /^(?:mod\.ts$|core\/|adapters\/(?:storage\/memory|client|storage\/d1|keys)\/|adapters\/handler(?:_options)?\.ts$|adapters\/layers\/(?:cors|order|tracing)\.ts$)/;

interface Source {
  readonly path: string;
  /** Without the examples in comments, which import what callers do. */
  readonly text: string;
  /** Paths of files from the root, and names of packages. */
  readonly imports: readonly string[];
}

const sources: readonly Source[] = globSync(
  ["mod.ts", "{core,adapters,tests,docs}/**/*.ts"],
  { cwd: ROOT, exclude: (path) => /node_modules/.test(path) },
).map((path) => {
  const text = readText(path)
    .replaceAll(/^ *\* ```ts$[^]*?^ *\* ```$/gm, "");
  const imports = [
    ...text.matchAll(/^(?:import|export)\b(?:[^;"]*? from)? "([^"]+)";/gm),
    ...text.matchAll(/\bimport\(\s*"([^"]+)"/g),
  ].map(([, name = ""]) =>
    name.startsWith(".") ? posix.join(posix.dirname(path), name) : name
  );
  return { path, text, imports };
});

function files(pattern: RegExp): readonly Source[] {
  const found = sources.filter(({ path }) => pattern.test(path));
  assert.notEqual(found.length, 0, `no file is like ${pattern}`);
  return found;
}

/** The lines `FILE imports NAME` for which `isAllowed` is false. */
function wrong(
  pattern: RegExp,
  isAllowed: (name: string, importer: string) => boolean,
): readonly string[] {
  return files(pattern).flatMap(({ path, imports }) =>
    imports.filter((name) => !isAllowed(name, path))
      .map((name) => `${path} imports ${name}`)
  );
}

/** The rooms and files of `core/`, from the inside out. Each imports only itself and those before it. */
const INSIDE_OUT = [
  "options.ts",
  "runtimes.ts",
  "sha256.ts",
  "int64.ts",
  "pets",
  "answer.ts",
  "errors.ts",
  "http",
  "api_key_storage.ts",
  "keys.ts",
  "operation.ts",
  "pet_store.ts",
  "operations.ts",
  "openapi",
  "router.ts",
  "service.ts",
  "handler.ts",
  "storage.ts",
  "kit.ts",
];

test("a file of the core imports valibot, its room, and what is further inside", () => {
  const isAllowed = (name: string, importer: string): boolean => {
    const [, room = ""] = importer.split("/");
    const [top, other = ""] = name.split("/");
    const place = INSIDE_OUT.indexOf(other);
    return name === "valibot" ||
      top === "core" && place >= 0 && place <= INSIDE_OUT.indexOf(room);
  };
  assert.deepEqual(wrong(/^core\//, isAllowed), []);
});

test("mod.ts imports the core, and the adapters that need nothing but fetch", () => {
  const isAllowed = (name: string) =>
    /^(?:core|adapters\/storage\/memory|adapters\/keys)\/|^adapters\/handler(?:_options)?\.ts$/
      .test(name);
  assert.deepEqual(wrong(/^mod\.ts$/, isAllowed), []);
});

/**
 * The doors of the core, beside `mod.ts`: for who writes a storage, and for who writes a server; and
 * what a program asks before it loads a package.
 */
const DOORS = ["core/storage.ts", "core/kit.ts", "core/runtimes.ts"];
/** Rooms that every adapter may use, and those that put others together, but not each other. */
const SHARED = ["http", "layers"];
const PROGRAMS = ["standalone", "sandbox"];
const COMPOSED = ["handler.ts", "handler_options.ts", ...PROGRAMS];

test("an adapter imports the doors of the core, itself and what adapters share", () => {
  const isAllowed = (name: string, importer: string): boolean => {
    if (!name.startsWith("adapters/")) {
      return DOORS.includes(name) || !/^(?:core|tests)\/|^mod\.ts$/.test(name);
    }
    const room = roomOf(importer);
    const other = roomOf(name);
    return room === other || room.startsWith(`${other}/`) ||
      SHARED.includes(other) ||
      COMPOSED.includes(room) && !PROGRAMS.includes(other);
  };
  assert.deepEqual(wrong(/^adapters\//, isAllowed), []);
});

test("the contract of a storage imports node:assert/strict, the core and itself", () => {
  const isAllowed = (name: string) =>
    name === "node:assert/strict" ||
    /^(?:core|tests\/contract\/storage)\//.test(name);
  assert.deepEqual(wrong(/^tests\/contract\/storage\//, isAllowed), []);
});

test("what is shipped of the tests imports the product and itself alone", () => {
  const isAllowed = (name: string) =>
    /^(?:core|adapters|tests\/(?:contract|judge|exam))\/|^node:/.test(name);
  assert.deepEqual(wrong(/^tests\/(?:contract|judge)\//, isAllowed), []);
});

test("what is shipped, the tests and the laboratory are rings: none imports outwards", () => {
  const isAllowed = (name: string) => !name.startsWith("tests/lab/");
  assert.deepEqual(wrong(/^tests\/(?!lab\/)/, isAllowed), []);
});

test("the core, the client and the storages in memory and D1 look for no runtime", () => {
  assert.deepEqual(wrong(ANYWHERE, (name) => !/^node:/.test(name)), []);
  for (const { path, text } of files(ANYWHERE)) {
    assert.doesNotMatch(text, /\b(?:Deno|Bun|process)\.|\brequire\b/, path);
    // `@opentelemetry/api` is found there, by whatever runtime or SDK brings it; a method is called.
    const probes = path === "adapters/layers/tracing.ts"
      ? /globalThis(?!, api\))/
      : /globalThis(?!\.fetch\()/;
    assert.doesNotMatch(text, probes, path);
  }
});

test("no file imports itself, however many files are between", () => {
  const open = new Map(sources.map(({ path, imports }) => [path, imports]));
  // A file that imports none of the remaining files is in no cycle.
  for (let size = -1; size !== open.size;) {
    size = open.size;
    for (const [path, imports] of open) {
      if (!imports.some((name) => open.has(name))) open.delete(path);
    }
  }
  assert.deepEqual([...open.keys()], []);
});

function read(path: string): Readonly<Record<string, Record<string, string>>> {
  return JSON.parse(readText(path));
}

test("the service has no package that only tests need, and tests the same versions", () => {
  const used = files(/^(?:mod\.ts$|core\/|adapters\/)/).flatMap((
    { imports },
  ) => imports.filter((name) => !/^node:|\.ts$/.test(name)));
  const { imports = {} } = read("deno.json");
  // The page's script is read as a file.
  assert.deepEqual(
    Object.keys(imports).sort(),
    [...new Set([...used, "swagger-ui-dist"])].sort(),
  );
  // The page replaces parts of it, so its version is exact, wherever it is named.
  const [, page = ""] = /^npm:(swagger-ui-dist@\d+\.\d+\.\d+)$/
    .exec(imports["swagger-ui-dist"] ?? "") ?? [];
  for (
    const path of [
      "README.md",
      "docs/embedding.md",
      "docs/examples/docs_page.ts",
      "adapters/docs/page_endpoints.ts",
    ]
  ) {
    const text = readText(path);
    assert.ok(page && text.includes(page), `${path} names ${page}`);
  }
  const { specifiers: lock = {} } = read("deno.lock");
  assert.deepEqual(Object.keys(lock).sort(), Object.values(imports).sort());

  const { imports: theirs = {} } = read("tests/deno.json");
  const { specifiers: theirLock = {} } = read("tests/deno.lock");
  for (const [name, specifier] of Object.entries(imports)) {
    assert.equal(theirs[name], specifier, name);
    assert.equal(theirLock[specifier], lock[specifier], name);
  }
});

const skip = !("Deno" in globalThis) && "only Deno has permissions to deny";
testUnless(skip)("mod.ts can be imported without any permission", async () => {
  // Not node:child_process, because it gives every Deno that it starts all permissions.
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--cached-only", "mod.ts"],
    cwd: ROOT,
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
});
