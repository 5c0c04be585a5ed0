/** One direction only: the core imports itself and valibot, and knows no runtime. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import test from "node:test";

const root = new URL("../", import.meta.url);
const core = readdirSync(new URL("core/", root)).map((name) => ({
  name,
  text: readFileSync(new URL(`core/${name}`, root), "utf8")
    .replaceAll(/^ \* ```ts$[^]*?^ \* ```$/gm, ""), // examples import what a caller would
}));

test("every import in core is valibot or a file in core", () => {
  assert.ok(core.length > 10);
  for (const { name, text } of core) {
    const imports = text.matchAll(
      /\b(?:from|import)\s*\(?\s*["']([^"']*)["']/g,
    );
    for (const [, specifier = ""] of imports) {
      assert.match(specifier, /^(?:valibot|\.\/[a-z0-9_]+\.ts)$/, name);
    }
    assert.doesNotMatch(text, /\bimport\s*\(|\brequire\b/, name);
  }
});

test("no file in core mentions a runtime", () => {
  for (const { name, text } of core) {
    assert.doesNotMatch(text, /\b(?:Deno|Bun|process)\.|\bnode:/, name);
  }
});

const skip = "Deno" in globalThis ? false : "only Deno has permissions to deny";
test("mod.ts can be imported without any permission", { skip }, () => {
  const url = JSON.stringify(new URL("mod.ts", root).href);
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["run", "--no-prompt", "--cached-only", "-"],
    {
      input:
        `const mod = await import(${url}); console.log(typeof mod.createHandler);`,
      cwd: root,
      encoding: "utf8",
    },
  );
  assert.equal(status, 0, stderr);
  assert.equal(stdout, "function\n");
});
