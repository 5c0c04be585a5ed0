import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { findBinaries } from "../../support/postgres/binaries.ts";
import { startCluster } from "../../support/postgres/cluster.ts";
import { skipping } from "../../support/skipping.ts";

const skip = skipping((await findBinaries()).missing);
const program = fileURLToPath(new URL("close_program.ts", import.meta.url));

test(
  "a program ends after close() of postgresStorage, even where the server hangs",
  { skip, timeout: 60_000 },
  async () => {
    const cluster = await startCluster();
    const run = "Deno" in globalThis ? ["run", "-A"] : [];
    const child = spawn(
      process.execPath,
      [...run, program, await cluster.newDatabase()],
      { stdio: ["pipe", "pipe", "inherit"] },
    );
    try {
      await once(child.stdout, "data");
      await cluster.pause();
      const timer = setTimeout(() => child.kill("SIGKILL"), 10_000);
      child.stdin.end("go on\n");
      const [code] = await once(child, "exit");
      clearTimeout(timer);
      assert.equal(code, 0);
    } finally {
      cluster.resume();
      child.kill("SIGKILL");
      await cluster.close();
    }
  },
);
