/** Messages to an operator. */
import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { missingPackage } from "../../../adapters/standalone/command_line.ts";
import { until } from "../../support/postgres/until.ts";
import { listen } from "../../support/ports.ts";
import { commandLine } from "../../support/runtime.ts";
import { run, runMain, RUNTIME, testInFolder as it } from "./program.ts";

it("start says that it waits for PostgreSQL, and where", async (cwd) => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => sockets.push(socket));
  const where = `127.0.0.1:${await listen(silent)}`;
  const env = { DATABASE_URL: `postgres://me:sesame@${where}/pets` };
  const program = runMain(["start", "--port", "0"], { cwd, env });
  await until("it says so", () => program.stderr() !== "");
  await program.end("SIGKILL");
  assert.equal(
    program.stderr(),
    `PostgreSQL at ${where} does not answer yet: waiting for about 10 s\n`,
  );
  for (const socket of sockets) socket.destroy();
  silent.close();
});

test("missingPackage knows the words of Node and Bun, and says what to run", () => {
  const words = [
    "Cannot find package 'valibot' imported from /srv/core/pets/pet.ts",
    'Cannot find package "valibot" from "/srv/core/pets/pet.ts"',
    "Cannot find module 'valibot' from '/srv/core/pets/pet.ts'",
  ];
  for (const each of words) {
    const message = missingPackage(new Error(each)) ?? "";
    assert.match(message, /package valibot is not .* run "npx .* install"/);
  }
  const ownFile = "Cannot find module '/srv/core/gone.ts' imported from /srv";
  assert.equal(missingPackage(new Error(ownFile)), undefined);
});

it(
  "Node without its packages says what to run, without a stack",
  async (cwd) => {
    for (const folder of ["adapters", "core"]) {
      const from = new URL(`../../../${folder}`, import.meta.url);
      cpSync(fileURLToPath(from), join(cwd, folder), { recursive: true });
    }
    const command = commandLine("adapters/standalone/main.ts");
    const program = run([...command, "start"], { cwd });
    assert.equal(await program.exited, 1);
    assert.match(program.stderr(), /^The package valibot is not installed/);
    assert.equal(program.stderr().trimEnd().split("\n").length, 1);
  },
  {
    skip: RUNTIME !== "node" && "Deno and Bun install packages by themselves",
  },
);
