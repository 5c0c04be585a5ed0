/** The HTTP contract on the examples for frameworks: with their packages, on Node, started from here. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import * as fs from "node:fs";
import type { AddressInfo, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import type { OpenService } from "../contract/ask.ts";
import { handleService } from "../contract/handle_service.ts";
import { httpContract } from "../contract/http_contract.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const EXAMPLES = join(ROOT, "docs/examples/frameworks");

/** Copies the examples, each on any free port, and installs their packages. */
function install(cwd: string): void {
  for (const name of fs.readdirSync(EXAMPLES)) {
    const text = fs.readFileSync(join(EXAMPLES, name), "utf8");
    const placed = text.replaceAll(/"(?:\.\.\/)+/g, `"${ROOT}`);
    fs.writeFileSync(join(cwd, name), placed.replace("8000", "0"));
  }
  const words = ["install", "--quiet", "--frozen", "--node-modules-dir=auto"];
  execFileSync(process.execPath, words, { cwd });
  execFileSync(process.execPath, ["check", "--quiet", "."], { cwd });
}

let opened = 0;

/** Runs an example as if for the first time. What is not `theirs` to answer is for the pet store. */
async function open(path: string, theirs: RegExp): Promise<OpenService> {
  const listening = new Promise<Server>((resolve) => {
    const channel = "tracing:net.server.listen:asyncEnd";
    subscribe(channel, function found(message) {
      unsubscribe(channel, found);
      resolve((message as { readonly server: Server }).server);
    });
  });
  await import(`${path}?${opened++}`);
  const server = await listening;
  const { address, port } = server.address() as AddressInfo;
  assert.equal(address, "127.0.0.1");
  const other = handleService();
  return {
    ...other,
    base: `http://${address}:${port}/v1`,
    fetch: (request) =>
      theirs.test(request.url) ? other.fetch(request) : fetch(request),
    close: async () => void server.close(),
  };
}

const { FRAMEWORKS } = process.env;
if (FRAMEWORKS === undefined) {
  test("the examples for frameworks type-check, and keep the HTTP contract on Node", () => {
    const folder = fs.mkdtempSync(join(tmpdir(), "petstore-frameworks-"));
    try {
      install(folder);
      const { PETSTORE_TEST_NODE = "node" } = process.env;
      const words = ["--test", "--test-reporter=dot"];
      execFileSync(PETSTORE_TEST_NODE, [...words, import.meta.filename], {
        env: { ...process.env, FRAMEWORKS: folder },
        stdio: "inherit",
      });
    } finally {
      fs.rmSync(folder, { recursive: true });
    }
  });
} else {
  const beside = /^[^/]+\/\/[^/]+\/(?!v1\/)/;
  // Fastify's router refuses what it cannot decode.
  const undecodable = new RegExp(`${beside.source}|%(?:FF)?$`);
  for (const name of ["express", "fastify", "hono", "edge_runtime"]) {
    const theirs = name === "fastify" ? undecodable : beside;
    httpContract(name, () => open(join(FRAMEWORKS, `${name}.ts`), theirs));
  }
}
