import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
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
import { newFolder } from "../../support/temporary_directory.ts";

const NOT_DENO = RUNTIME !== "deno" && "only Deno has deno serve";
const onDeno = { test: testUnless(NOT_DENO) };

onDeno.test("serve.ts greets once, lists, and exits with 0", async (t) => {
  const server = await startServe(t);
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

  const again = await startServe(t, { cwd });
  assert.equal(await again.end("SIGINT"), 0);
  assert.deepEqual(readdirSync(cwd), ["petstore.db"], "it was closed");
});

onDeno.test("serve.ts answers every create under way after SIGTERM", async (t) => {
  const server = await startServe(t);
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

const onTerminal = { test: testUnless(NOT_DENO || skipping(NO_TERMINAL)) };
for (const parallel of [false, true]) {
  const how = parallel ? "with several workers" : "as one";
  onTerminal.test(`serve.ts ${how} issues one first key on a terminal`, async (t) => {
    const server = await startServe(t, { parallel, isTerminal: true });
    assert.equal((await ask(server, "GET", "/v1/pets")).status, 200);
    await server.end();
    assert.equal(server.stderr().match(/^ {4}pet_/gm)?.length, 1);
  });
}

// The first worker that has ended ends the process, so answers of the others may be lost.
onDeno.test("serve.ts with several workers greets once, and ends with 0 within its time", async (t) => {
  const env = { SHUTDOWN_TIMEOUT: "1" };
  const server = await startServe(t, { parallel: true, env });
  assert.equal((await ask(server, "GET", "/v1/pets")).status, 200);
  await openSlowCreate(t, server);
  assert.equal(await server.end(), 0);
  assert.equal(server.stderr().match(/listens at/g)?.length, 1);
});

onDeno.test("serve.ts exits once Deno has sent what is in flight", async (t) => {
  const path = pathOf("tests/adapters/standalone/serve_program.ts");
  const { code, stdout, stderr } = await run(commandLine(path), {
    cwd: newFolder(t),
    env: {
      DATABASE_URL: "memory:",
      PETSTORE_API_KEYS: "secret",
      REQUEST_LOG: "off",
    },
  });
  assert.equal(code, 0, stderr);
  const sent = "200\nDeno has sent it\nthe last bytes have left\n";
  assert.equal(stdout, sent);
});

onDeno.test("serve.ts says on which port it listens if it is told to take any", async (t) => {
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
  onDeno.test(`serve.ts refuses a wrong ${name}`, async (t) => {
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
