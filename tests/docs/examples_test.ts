import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { freePort, RUNTIME } from "../adapters/standalone/program.ts";
import { skipping } from "../support/skipping.ts";

const ROOT = new URL("../../", import.meta.url);

function read(path: string): string {
  return readFileSync(new URL(path, ROOT), "utf8");
}

test("the README shows the examples as they are, but for their first comment and where the repository lies", () => {
  const shown = Array.from(
    read("README.md").matchAll(/^```ts\n([^]*?)^```$/gm),
    ([, code]) => code,
  );
  const examples = readdirSync(new URL("docs/examples/", ROOT))
    .filter((name) => name.endsWith(".ts"))
    .map((name) =>
      read(`docs/examples/${name}`).replace(/^\/\*\*[^]*?\*\/\n\n/, "")
    )
    .map((code) => code.replaceAll('"../../', '"./petstore/'));
  assert.notEqual(shown.length, 0);
  for (const code of shown) {
    assert.ok(code !== undefined && examples.includes(code), `${code}`);
  }
});

for (
  const [file, runtime] of [
    ["embed_deno.ts", "deno"],
    ["embed_docs.ts", "deno"],
    ["embed_bun.ts", "bun"],
    ["embed_node.ts", "node"],
    ["mount_node.ts", "node"],
  ] as const
) {
  const skip = skipping(
    runtime !== RUNTIME && `docs/examples/${file} is for ${runtime}`,
  );

  test(`docs/examples/${file} serves the pet store`, { skip }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "petstore-example-"));
    const port = await freePort();
    const program = join(folder, file);
    writeFileSync(
      program,
      read(`docs/examples/${file}`).replaceAll('"../../', `"${ROOT}`)
        .replaceAll(
          "8000",
          String(port),
        ),
    );
    const flags = {
      deno: ["run", "-A", "--config", new URL("deno.json", ROOT).pathname],
      bun: [],
      node: [],
    };
    const child = spawn(process.execPath, [...flags[runtime], program], {
      cwd: folder,
      stdio: "ignore",
    });
    const ended = new Promise((resolve) => child.once("close", resolve));
    try {
      assert.equal(await statusOf(`http://127.0.0.1:${port}/v1/pets`), 200);
    } finally {
      child.kill("SIGKILL");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

/** The status of a listing, once the server listens. */
async function statusOf(url: string): Promise<number> {
  const deadline = Date.now() + 20_000;
  for (;;) {
    try {
      const response = await fetch(url, {
        headers: { authorization: "Bearer secret" },
      });
      await response.body?.cancel();
      return response.status;
    } catch (cause) {
      if (Date.now() > deadline) throw cause;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
