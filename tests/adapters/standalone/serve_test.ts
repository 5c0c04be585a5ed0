import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { TestContext } from "node:test";
import { setTimeout } from "node:timers/promises";
import { run } from "../../support/process.ts";
import { pathOf } from "../../support/repository.ts";
import {
  commandLine,
  RUNTIME,
  skipping,
  testUnless,
} from "../../support/runtime.ts";
import { ask } from "../../contract/ask.ts";
import {
  NO_TERMINAL,
  openSlowCreate,
  startServe,
  tellToStop,
} from "../../support/standalone.ts";
import { answerTo, rawRequest } from "../../support/wire.ts";
import { until } from "../../support/time.ts";
import { newFolder } from "../../support/temporary_directory.ts";
import { REX_JSON } from "../../support/pets.ts";

const NOT_DENO = RUNTIME !== "deno" && "only Deno has deno serve";
const it = testUnless(NOT_DENO);

for (const parallel of [false, true]) {
  const how = parallel ? "with several workers" : "as one";
  const itEither = (what: string, check: (t: TestContext) => Promise<void>) =>
    it(`serve.ts ${how} ${what}`, check);

  itEither("greets once, lists, and exits with 0", async (t) => {
    const server = await startServe(t, { parallel });
    const { cwd } = server;
    for (let i = 0; i < 10; i++) {
      assert.equal((await ask(server, "GET", "/v1/pets")).status, 200);
    }
    assert.equal((await ask(server, "GET", "/readyz")).status, 200);
    assert.equal(await server.end(), 0);
    assert.equal(server.stderr().match(/listens at/g)?.length, 1);
    assert.doesNotMatch(server.stderr(), /did not finish/);
    const lines = /"route":"\/v1\/pets","status":200/g;
    assert.equal(server.stdout().match(lines)?.length, 10);
    assert.doesNotMatch(server.stdout(), /secret/);

    const again = await startServe(t, { cwd, parallel });
    assert.equal(await again.end("SIGINT"), 0);
    assert.deepEqual(readdirSync(cwd), ["petstore.db"], "it was closed");
  });

  testUnless(NOT_DENO || skipping(NO_TERMINAL))(
    `serve.ts ${how} issues one first key on a terminal`,
    async (t) => {
      const server = await startServe(t, { parallel, isTerminal: true });
      assert.equal((await ask(server, "GET", "/v1/pets")).status, 200);
      await server.end();
      assert.equal(server.stderr().match(/^ {4}pet_/gm)?.length, 1);
    },
  );

  itEither("answers every create under way after SIGTERM", async (t) => {
    const server = await startServe(t, { parallel });
    // Several connections, so that with several workers more than one has something in flight.
    const creates = await Promise.all(
      Array.from({ length: 8 }, () => openSlowCreate(t, server)),
    );
    await tellToStop(server);
    const answers: string[] = [];
    for (const create of creates) answers.push(await create.finish());
    // deno serve may cut bodies short when told to stop: nothing happened, and the answer says so.
    const expected = /^HTTP\/1.1 (?:201 |503 [^]*Nothing was changed)/;
    for (const answer of answers) assert.match(answer, expected);
    assert.equal(await server.exited, 0);
  });
}

it("serve.ts with several workers sends the slow answer of one after SIGTERM", async (t) => {
  const env = { METRICS: "on" };
  const server = await startServe(t, { parallel: true, env });
  const other = new DatabaseSync(join(server.cwd, "petstore.db"));
  other.exec("BEGIN IMMEDIATE");
  const create = ask(server, "POST", "/v1/pets", { body: REX_JSON })
    .then(({ status }) => status, String);
  // Each new connection may lead to another worker.
  const metrics = rawRequest("GET /metrics", ["Connection: close"]);
  await until("the create waits", async () => {
    const { body } = await answerTo(server.port, metrics);
    return /^petstore_creates_waiting 1$/m.test(body);
  });
  await tellToStop(server);
  await Promise.race([server.exited, setTimeout(500)]);
  other.exec("COMMIT");
  other.close();
  assert.equal(await create, 201);
  assert.equal(await server.exited, 0);
});

/** Runs `serve_program.ts` to its end. */
async function runServe(t: TestContext, flags: string[], env = {}) {
  const path = pathOf("tests/adapters/standalone/serve_program.ts");
  const command = [...commandLine(path), ...flags];
  const { code, stdout, stderr } = await run(command, {
    cwd: newFolder(t),
    env: {
      DATABASE_URL: "memory:",
      PETSTORE_API_KEYS: "secret",
      REQUEST_LOG: "off",
      ...env,
    },
  });
  assert.equal(code, 0, stderr);
  return { stdout, stderr };
}

const ENDS = {
  "exits once Deno has sent what is in flight": [],
  "ends in order at its first signal after another worker left": ["--left"],
};
for (const [what, flags] of Object.entries(ENDS)) {
  it(`serve.ts ${what}`, async (t) => {
    const { stdout } = await runServe(t, flags);
    const sent = "200\nDeno has sent it\nthe last bytes have left\n";
    assert.equal(stdout, sent);
  });
}

it("serve.ts has written all before another worker may end the process", async (t) => {
  const env = { SHUTDOWN_TIMEOUT: "0" };
  const { stderr } = await runServe(t, ["--exits"], env);
  assert.match(stderr, /did not finish within 0 ms/);
});

it("serve.ts says on which port it listens if it is told to take any", async (t) => {
  const env = { DATABASE_URL: "memory:" };
  const server = await startServe(t, { env, port: 0 });
  assert.equal((await ask(server, "GET", "/v1/pets")).status, 200);
  assert.equal(await server.end(), 0);
});

/** By setting: a wrong value, and what is said about it. */
const WRONG = {
  BASE_URL: ["v1", "it must be a path"],
  SHUTDOWN_DELAY: ["1", "deno serve stops listening .* use main.ts start\n"],
  ADMIN_PORT: ["1", "deno serve listens on one port.* use main.ts start\n"],
  DENO_SERVE_ADDRESS: ["unix:petstore.sock", "it must be a TCP address"],
} as const;
for (const [name, [value, message]] of Object.entries(WRONG)) {
  it(`serve.ts refuses a wrong ${name}`, async (t) => {
    const env = { DATABASE_URL: "memory:", [name]: value };
    const said = RegExp(`Cannot read ${name}: ${message}`);
    await assert.rejects(startServe(t, { env }), said);
  });
}

testUnless(RUNTIME === "deno" && "Deno serves it")(
  "serve.ts refuses Bun and Node, and points to main.ts start",
  async () => {
    const file = pathOf("adapters/standalone/serve.ts");
    const { code, stderr } = await run(commandLine(file));
    assert.match(stderr, /^Cannot start: .* Use main\.ts start\n$/);
    assert.equal(code, 1);
  },
);
