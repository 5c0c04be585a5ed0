/** The permissions that docs/operating.md names are enough, whatever the tasks of deno.json grant. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { commandLine } from "../../support/runtime.ts";
import {
  freePort,
  MAIN,
  run,
  RUNTIME,
  testInFolder,
  untilListening,
} from "./program.ts";

const ROOT = new URL("../../../", import.meta.url);
const skip = RUNTIME !== "deno" && "only Deno has permissions";

/** The flags of the page's example, with the folder and the address of this test in them. */
function namedFlags(folder: string, port: number): readonly string[] {
  const page = readFileSync(new URL("docs/operating.md", ROOT), "utf8");
  const [, command = ""] =
    /\n## Permissions\n[^]*?```sh\n([^]*?)```/.exec(page) ?? [];
  const flags = command.match(/--(?:allow|no-prompt)[-\w]*(?:=\S+)?(?= )/g);
  return (flags ?? []).map((flag) =>
    flag.replace(/(?<=-net=.*:)8000\b/, `${port}`)
      .replace("/var/lib/petstore", folder)
  );
}

testInFolder(
  "the server needs its address, the folder of its file and its variables",
  async (folder) => {
    const port = await freePort();
    const flags = namedFlags(folder, port);
    assert.equal(
      flags.map((flag) => flag.replace(/^(--[-a-z]+).*/, "$1")).join(" "),
      "--no-prompt --allow-net --allow-env --allow-read --allow-write",
    );
    for (const flag of flags.slice(1)) assert.match(flag, /=[^*]/);
    const server = await untilListening(
      run([...commandLine(MAIN, flags), "start"], {
        cwd: fileURLToPath(ROOT),
        env: { DATABASE_URL: `sqlite:${folder}/pets.db`, PORT: `${port}` },
      }),
    );
    try {
      const url = `http://127.0.0.1:${port}/v1/pets`;
      const authorization = `Bearer ${server.key}`;
      const created = await fetch(url, {
        method: "POST",
        headers: { authorization, "content-type": "application/json" },
        body: '{"name":"Rex","categoryId":1}',
      });
      assert.equal(created.status, 201, server.stderr());
      const pet = await created.json();
      const listed = await fetch(url, { headers: { authorization } });
      assert.deepEqual(await listed.json(), [pet]);
      const page = await fetch(`http://127.0.0.1:${port}/docs`);
      assert.equal(page.status, 200);
      await page.body?.cancel();
    } finally {
      assert.equal(await server.end(), 0, server.stderr());
    }
  },
  { skip },
);
