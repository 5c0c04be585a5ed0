import assert from "node:assert/strict";
import { test } from "node:test";
import {
  freePort,
  inNewFolder,
  type RunningServer,
  RUNTIME,
  startServe,
} from "./program.ts";
import { skipping } from "../../support/skipping.ts";
import { openSlowCreate } from "./slow_create.ts";

const NODE = skipping(
  RUNTIME === "node" &&
    "serve.ts is for deno serve and Bun; main.ts serves on Node",
);
const NOT_DENO = skipping(
  RUNTIME !== "deno" && "only deno serve has --parallel",
);

function listWith({ origin, key }: RunningServer): Promise<Response> {
  return fetch(`${origin}/v1/pets`, {
    headers: { authorization: `Bearer ${key}` },
  });
}

for (const parallel of [false, true]) {
  const how = parallel ? "with several workers" : "as one";
  const skip = parallel ? NOT_DENO : NODE;
  const it = (what: string, check: () => Promise<void>) =>
    test(`serve.ts ${how} ${what}`, { skip }, check);

  it("issues one first key, lists with it, and exits with 0", async () => {
    await inNewFolder(async (cwd) => {
      const server = await startServe({
        cwd,
        port: await freePort(),
        parallel,
      });
      assert.equal(server.stderr().match(/^ {4}pet_/gm)?.length, 1);
      for (let i = 0; i < 10; i++) {
        assert.equal((await listWith(server)).status, 200);
      }
      assert.equal((await fetch(`${server.origin}/readyz`)).status, 200);
      server.kill("SIGTERM");
      assert.equal(await server.exited, 0);
      assert.equal(
        server.stdout().match(/"route":"\/v1\/pets","status":200/g)?.length,
        10,
      );
      assert.doesNotMatch(server.stdout(), /pet_/);

      const again = await startServe({ cwd, port: await freePort(), parallel });
      assert.equal(again.key, undefined);
      again.kill("SIGINT");
      assert.equal(await again.exited, 0);
    });
  });

  it("answers every create under way after SIGTERM", async () => {
    await inNewFolder(async (cwd) => {
      const server = await startServe({
        cwd,
        port: await freePort(),
        parallel,
      });
      // Several connections, so that with several workers more than one has something in flight.
      const creates = await Promise.all(
        Array.from(
          { length: 8 },
          () => openSlowCreate(server.origin, server.key),
        ),
      );
      server.kill("SIGTERM");
      const deadline = Date.now() + 10_000;
      while (!server.stderr().includes("SIGTERM") && Date.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      const answers: string[] = [];
      for (const create of creates) answers.push(await create.finish());
      // deno serve may cut bodies short when it is told to stop: nothing happened, and that is said.
      const expected = /^HTTP\/1.1 (?:201 |503 [^]*Nothing was changed)/;
      for (const answer of answers) assert.match(answer, expected);
      assert.equal(await server.exited, 0);
    });
  });
}

test("serve.ts refuses a wrong setting with a message and exit code 1", {
  skip: NODE,
}, async () => {
  await inNewFolder(async (cwd) => {
    const port = await freePort();
    await assert.rejects(
      startServe({ cwd, port, env: { BASE_URL: "v1" } }),
      /BASE_URL is wrong/,
    );
  });
});
