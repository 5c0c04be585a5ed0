/** The entry `./serve` from a URL, as `deno serve jsr:@petstore/service/serve` loads it. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { ask } from "../contract/ask.ts";
import { REX_JSON } from "../support/pets.ts";
import { freePort, run, startProgram } from "../support/process.ts";
import { readText, ROOT } from "../support/repository.ts";
import { RUNTIME, testUnless } from "../support/runtime.ts";
import { listenOn } from "../support/server.ts";
import { untilListening } from "../support/standalone.ts";
import { newFolder } from "../support/temporary_directory.ts";

const { exports, imports }: {
  readonly exports: Readonly<Record<string, string>>;
  readonly imports: Readonly<Record<string, string>>;
} = JSON.parse(readText("deno.json"));
const onDeno = {
  test: testUnless(
    RUNTIME !== "deno" && "only Deno imports from addresses",
  ),
};

/** The files that would be published. */
const dryRun = ["publish", "--dry-run", "--allow-dirty", "--no-check"];
const { stderr } = RUNTIME === "deno"
  ? await run([process.execPath, ...dryRun], { cwd: ROOT })
  : { stderr: "" };
const published = Array.from(
  stderr.matchAll(/^ +file:\/\/(\S+) \(/gm),
  ([, path = ""]) => fileURLToPath(`file://${path}`).slice(ROOT.length),
);

onDeno.test("what is published has every entry, and no file that only this repository needs", () => {
  for (const path of Object.values(exports)) {
    assert.ok(published.includes(path.replace("./", "")), path);
  }
  const others = published.filter((path) =>
    !/^(?:core|adapters|tests\/(?:contract|judge|exam))\//.test(path)
  );
  assert.deepEqual(others.sort(), [
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "README.md",
    "SECURITY.md",
    "deno.json",
    "mod.ts",
  ]);
});

onDeno.test("deno serve runs the entry from an address, with the flags in docs/embedding.md", async (t) => {
  // As `deno publish` does, it names packages by their registry.
  const registry = createServer((request, response) => {
    const path = (request.url ?? "").slice(1);
    if (!published.includes(path)) return void response.writeHead(404).end();
    const type = path.endsWith(".ts") ? "text/typescript" : "text/plain";
    response.setHeader("content-type", type);
    response.end(
      readText(path).replaceAll(
        /(\bfrom |\bimport\()"([\w-]+)"/g,
        (_, start, name) => `${start}"${imports[name]}"`,
      ),
    );
  });
  const port = await listenOn(t, registry);
  const origin = `http://127.0.0.1:${port}`;
  const [, flags = ""] = /^deno (serve [^]*?) jsr:@petstore\/service\/serve$/m
    .exec(readText("docs/embedding.md")) ?? [];
  assert.doesNotMatch(flags, /-A\b|--allow-all/);
  const words = flags.replaceAll("\\\n", "")
    .replace("8000", `${await freePort()}`)
    .trim().split(/ +/);
  const entry = (name: string) =>
    `${origin}/${exports[name]?.replace("./", "")}`;
  const loading = [`--reload=${origin}`, `--allow-import=127.0.0.1:${port}`];
  const help = [...loading, entry("./main"), "--help"];
  const { stdout } = await run([process.execPath, "run", "-q", ...help]);
  assert.match(
    stdout,
    /^Usage: +deno run jsr:@petstore\/service\/main COMMAND/m,
  );

  const env = { PETSTORE_API_KEYS: "secret" };
  const command = [process.execPath, ...words, ...loading, entry("./serve")];
  const program = startProgram(t, command, { cwd: newFolder(t), env });
  const server = await untilListening(program, "secret");
  const created = await ask(server, "POST", "/v1/pets", { body: REX_JSON });
  assert.equal(created.status, 201);
  const { status, text } = await ask(server, "GET", "/docs");
  assert.equal(status, 404);
  assert.match(
    text,
    /"No page at \/docs: a server that runs from an address /,
  );
  assert.equal(await server.end(), 0);
});
