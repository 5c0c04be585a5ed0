/** The transcripts of the sandbox, in the README and in docs/sandbox.md, are what the commands print. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { startSandbox } from "../adapters/sandbox/sandbox_program.ts";
import { atEnd } from "../support/at_end.ts";
import { run } from "../support/process.ts";
import { readText } from "../support/repository.ts";
import { RUNTIME, skipping, testUnless } from "../support/runtime.ts";

const skip = RUNTIME !== "deno" && "the documents are checked on Deno" ||
  skipping(
    spawnSync("curl", ["--version"]).status !== 0 && "curl is missing",
  );

for (const file of ["README.md", "docs/sandbox.md"]) {
  testUnless(skip)(
    `the transcript of the sandbox in ${file} is what the commands print`,
    async (t) => {
      const [text = ""] = Array.from(
        readText(file).matchAll(/^```console\n([^]*?)^```$/gm),
        ([, text = ""]) => text,
      ).filter((text) => text.includes("/sandbox"));
      const steps = [...text.matchAll(/^\$ (.*)\n((?:(?!\$ ).*\n)*)/gm)];
      assert.ok(steps.length > 2, text);

      const { url, program } = await startSandbox("--pets 50 --quiet");
      atEnd(t, () => program.end());
      // One shell for all, so that variables stay.
      const marked = steps.map(([, command = ""]) =>
        `${command.replaceAll("curl ", "curl -sS ")} 2>&1; echo '$ end'`
      ).join("\n").replaceAll("http://127.0.0.1:8080", new URL(url).origin);
      const env = { LC_ALL: "C.UTF-8" };
      const { stdout } = await run(["bash", "-c", marked], { env });
      const printed = stdout.replaceAll("\r", "").split("$ end\n");
      for (const [i, [, command, shown = ""]] of steps.entries()) {
        const all = (printed[i] ?? "").replace(/(?<=.)$(?![^])/, "\n");
        assert.equal(all, shown, String(command));
      }
    },
  );
}
