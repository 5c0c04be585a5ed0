/** The transcripts of the sandbox, in the README and in docs/sandbox.md, are what the commands print. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import {
  commandLine,
  RUNTIME,
  skipping,
  testUnless,
} from "../support/runtime.ts";

const ROOT = new URL("../../", import.meta.url);
const MAIN = fileURLToPath(new URL("adapters/sandbox/main.ts", ROOT));
const skip = RUNTIME !== "deno" && "the documents are checked on Deno" ||
  skipping(
    spawnSync("curl", ["--version"]).status !== 0 && "curl is missing",
  );

for (const file of ["README.md", "docs/sandbox.md"]) {
  testUnless(skip)(
    `the transcript of the sandbox in ${file} is what the commands print`,
    async () => {
      const page = readFileSync(new URL(file, ROOT), "utf8");
      const [text = ""] = Array.from(
        page.matchAll(/^```console\n([^]*?)^```$/gm),
        ([, text = ""]) => text,
      ).filter((text) => text.includes("/sandbox"));
      const steps = [...text.matchAll(/^\$ (.*)\n((?:(?!\$ ).*\n)*)/gm)];
      assert.ok(steps.length > 2, text);

      const flags = ["--pets", "50", "--quiet", "--with-stdin"];
      const [program = "", ...args] = [...commandLine(MAIN), ...flags];
      const child = spawn(program, args, {
        stdio: ["pipe", "pipe", "inherit"],
      });
      const [line] = await once(createInterface(child.stdout), "line");
      const { origin } = new URL(JSON.parse(line).url);
      try {
        // One shell for all, so that variables stay.
        const marked = steps.map(([, command = ""]) =>
          `${command.replaceAll("curl ", "curl -sS ")} 2>&1; echo '$ end'`
        ).join("\n").replaceAll("http://127.0.0.1:8080", origin);
        const env = { ...process.env, LC_ALL: "C.UTF-8" };
        const { stdout } = spawnSync("bash", ["-c", marked], {
          encoding: "utf8",
          env,
        });
        const printed = stdout.replaceAll("\r", "").split("$ end\n");
        for (const [i, [, command, shown = ""]] of steps.entries()) {
          const all = (printed[i] ?? "").replace(/(?<=.)$(?![^])/, "\n");
          assert.equal(all, shown, String(command));
        }
      } finally {
        child.stdin.end();
        await once(child, "close");
      }
    },
  );
}
