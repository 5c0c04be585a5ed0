/** The HTTP contract on the examples for frameworks, with their packages, on Node. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { readdirSync } from "node:fs";
import type { AddressInfo, Server } from "node:net";
import process from "node:process";
import { test } from "node:test";
import type { OpenService } from "../contract/ask.ts";
import { atEnd } from "../support/at_end.ts";
import { handleService } from "../support/handle_service.ts";
import { httpContract } from "../contract/register.ts";
import { placeExample } from "../support/examples.ts";
import { pathOf } from "../support/repository.ts";
import { temporaryDirectory } from "../support/temporary_directory.ts";
import { findRuntime, skipping, testUnless } from "../support/runtime.ts";

const { FRAMEWORKS } = process.env;

/**
 * Requests that reach the pet store: all below its mount, except those that Fastify cannot decode.
 */
const BELOW = /^http:\/\/[^/]+\/v1\/(?!.*%(?:FF|zz)?$)/;

let opened = 0;
let onListening = (_server: Server): void => {};
subscribe("tracing:net.server.listen:asyncEnd", (message) => {
  onListening((message as { readonly server: Server }).server);
});

/** Runs an example as if for the first time. */
async function open(name: string): Promise<OpenService> {
  const listening = new Promise<Server>((resolve) => onListening = resolve);
  await import(`${FRAMEWORKS}/${name}.ts?${opened++}`);
  const server = await listening;
  const { address, port } = server.address() as AddressInfo;
  assert.equal(address, "127.0.0.1");
  const other = handleService();
  return {
    ...other,
    base: `http://${address}:${port}/v1`,
    fetch: (request) =>
      (BELOW.test(request.url) ? fetch : other.fetch)(request),
    close: async () => void server.close(),
  };
}

if (FRAMEWORKS === undefined) {
  const { command: node, missing } = findRuntime("node");

  testUnless(skipping(missing ?? false))(
    "the frameworks keep the HTTP contract on Node",
    () => {
      const cwd = temporaryDirectory();
      for (const name of readdirSync(pathOf("docs/examples/frameworks"))) {
        placeExample(
          `frameworks/${name}`,
          cwd,
          (text) =>
            text.replace("8000", "0")
              // Copies import the sources by path, so neither deno.json nor the lockfile names the
              // service.
              .replaceAll(/^ *"@petstore\/service.*\n/gm, "")
              .replace(/,\n {4}"links": [^]*?\n {4}\}/, ""),
        );
      }
      const script = `
      ${process.execPath} install --quiet --frozen --node-modules-dir=auto
      ${process.execPath} check --quiet .
      ${node} --test --test-reporter=dot ${import.meta.filename}`;
      const env = { ...process.env, FRAMEWORKS: cwd };
      execFileSync("sh", ["-ec", script], { cwd, env, stdio: "inherit" });
    },
  );
} else {
  for (const name of ["express", "fastify", "hono", "srvx", "edge_runtime"]) {
    httpContract(
      (title, check) => test(`${name}: ${title}`, check),
      () => open(name),
    );
  }

  test("edge_runtime: a client that takes gzip gets the document as it is", async (t) => {
    const { base, close } = await open("edge_runtime");
    atEnd(t, close);
    const headers = { "accept-encoding": "gzip" }; // nothing can compress there
    for (const known of [{}, { "if-none-match": '"x"' }]) {
      const answer = await fetch(`${base}/openapi.json`, {
        headers: { ...headers, ...known },
      });
      assert.equal(answer.status, 200, JSON.stringify(known));
      assert.equal(
        answer.headers.get("content-encoding"),
        null,
        JSON.stringify(known),
      );
      assert.equal(
        (await answer.json()).openapi,
        "3.1.1",
        JSON.stringify(known),
      );
    }
  });
}
