/** One direction only: the core imports itself and valibot, and knows no runtime. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";

const root = new URL("../", import.meta.url);
const folder = new URL("core/", root);
const core = readdirSync(folder, { encoding: "utf8", recursive: true })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => ({
    name,
    text: readFileSync(new URL(name, folder), "utf8")
      .replaceAll(/^ \* ```ts$[^]*?^ \* ```$/gm, ""), // examples import what a caller would
  }));

test("every import in core is valibot or a file in core", () => {
  assert.ok(core.length > 10);
  for (const { name, text } of core) {
    const imports = text.matchAll(
      /\b(?:from|import)\s*\(?\s*["']([^"']*)["']/g,
    );
    for (const [, specifier = ""] of imports) {
      assert.match(specifier, /^(?:valibot|\.{1,2}\/[a-z0-9_/]+\.ts)$/, name);
      if (specifier === "valibot") continue;
      const { href } = new URL(specifier, new URL(name, folder));
      assert.ok(href.startsWith(folder.href), `${name} imports ${specifier}`);
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
test("mod.ts can be imported without any permission", { skip }, async () => {
  const program = `const mod = await import("${new URL("mod.ts", root)}");
    console.log(typeof mod.createHandler);`;
  // Not node:child_process: Deno gives what that starts of Deno all permissions.
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--cached-only", "--ext=ts", "-"],
    cwd: root,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const input = child.stdin.getWriter();
  await input.write(new TextEncoder().encode(program));
  await input.close();
  const { code, stdout, stderr } = await child.output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  assert.equal(new TextDecoder().decode(stdout), "function\n");
});
