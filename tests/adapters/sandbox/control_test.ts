/** The control address, on each runtime. */
import assert from "node:assert/strict";
import { REX_JSON } from "../../support/pets.ts";
import { answerTo, rawRequest } from "../../support/wire.ts";
import { onEverySandbox, type RunningSandbox } from "./sandbox_program.ts";

const everySandbox = { test: onEverySandbox() };
const JSON_TYPE = { "content-type": "application/json" };

/** The numbers of pets, faults and requests. */
async function counts({ state }: RunningSandbox) {
  const { pets, faults, requests } = await state();
  return [pets, faults.length, requests];
}

/** Asserts that a request is refused with an Error body; returns its message and `Allow`. */
async function refused(url: string, init: RequestInit, status: number) {
  const response = await fetch(url, init);
  const { code, message, ...rest } = await response.json();
  assert.deepEqual([response.status, rest], [status, { status }], message);
  assert.equal(typeof code, "string");
  return { message, allow: response.headers.get("allow") };
}

everySandbox.test("GET has the numbers of pets and requests, and the faults; reset starts anew", async ({ state, tell, send }) => {
  assert.deepEqual(await state(), { pets: 50, faults: [], requests: 0 });
  const fault = {
    times: 2,
    answer: { status: 503 },
    when: { method: "GET" },
  };
  await tell("POST", "/faults", fault);
  await send("POST /v1/pets", REX_JSON);
  assert.deepEqual(await state(), { pets: 51, faults: [fault], requests: 1 });
  await tell("POST", "/reset");
  assert.deepEqual(await state(), { pets: 50, faults: [], requests: 0 });
});

everySandbox.test("PUT pets is the seed from now on, and resets to it; GET has all pets", async (sandbox) => {
  const { tell } = sandbox;
  await tell("POST", "/faults", { lose: true });
  const pets =
    '[{"id":9007199254740993,"name":"Ivy","categoryId":9223372036854775807},{"name":"Zo\u00eb","categoryId":-1,"status":"sold"}]';
  await tell("PUT", "/pets", pets);
  assert.deepEqual(await counts(sandbox), [2, 0, 0]);
  const all = await fetch(`${sandbox.control}/pets`);
  assert.equal(all.status, 200);
  assert.match(
    await all.text(),
    /^\[\{"id":9007199254740993,"name":"Ivy","categoryId":9223372036854775807,"status":"available"\},\{"id":9007199254740994,/,
  );
  await tell("POST", "/reset");
  assert.deepEqual(await counts(sandbox), [2, 0, 0]);
  await tell("PUT", "/pets", 7);
  assert.deepEqual(await counts(sandbox), [7, 0, 0]);
});

everySandbox.test("faults are added behind those that wait, listed and removed", async ({ drive, tell }) => {
  const faults = [{ lose: true }, { delay: 5 }, { cut: 1, times: "always" }];
  await tell("POST", "/faults", faults[0]);
  await tell("POST", "/faults", faults.slice(1));
  const listed = { status: 200, json: faults };
  assert.deepEqual(await drive("GET", "/faults"), listed);
  await tell("DELETE", "/faults");
  assert.deepEqual((await drive("GET", "/faults")).json, []);
});

everySandbox.test("requests lists what came to the service alone, and is emptied", async ({ requests, tell, send }) => {
  const failing = { answer: { status: 500 } };
  await tell("POST", "/faults", failing);
  await send("GET /v1/pets");
  await send("GET /sandboxes");
  const asProxy = await send("GET http://a.example/sandbox?a");
  assert.match(asProxy, /^HTTP\/1.1 200 [^]*"requests":2/);
  const entries = (await requests())
    .map(({ target, status, fault }) => [target, status, fault]);
  const unknown = ["/sandboxes", 404, undefined];
  assert.deepEqual(entries, [["/v1/pets", 500, failing], unknown]);
  await tell("DELETE", "/requests");
  assert.deepEqual(await requests(), []);
});

/** By request: bodies, and what is said about them. */
const WRONG = [
  ["POST /faults", '[{"lose":true},{"lose":1}]', /^Cannot add fault 2: lose /],
  ["POST /faults", "{", /^Cannot read the body: it is not valid JSON$/],
  ["POST /faults", "[".repeat(1_000_000) + "]".repeat(1_000_000), /^Cannot /],
  ["POST /faults", "", /^Cannot read the body: it is missing$/],
  ["PUT /pets", '[{"name":"B"}]', /^Cannot seed pets: pet 1: categoryId is /],
] as const;
for (const [line, body, message] of WRONG) {
  const [method = "", path = ""] = line.split(" ");
  everySandbox.test(
    `${line} with ${
      body.slice(0, 30)
    } is a 400 that says why, and changes nothing`,
    async (sandbox) => {
      await sandbox.tell("POST", "/faults", { lose: true });
      const init = { method, body, headers: JSON_TYPE };
      const said = await refused(sandbox.control + path, init, 400);
      assert.match(said.message, message);
      assert.deepEqual(await counts(sandbox), [50, 1, 0]);
    },
  );
}

everySandbox.test("a body must be JSON and no larger than 16 MiB", async (sandbox) => {
  const { control } = sandbox;
  for (const type of ["text/plain", "application/x-www-form-urlencoded"]) {
    const headers = { "content-type": type };
    const init = { method: "POST", body: '{"lose":true}', headers };
    const { message } = await refused(`${control}/faults`, init, 415);
    assert.match(
      message,
      /: curl --json sends it; with curl -d or fetch, set it$/,
      type,
    );
  }
  const fields = ["Host: localhost", "Content-Length: 16777217"];
  const sent = rawRequest("PUT /sandbox/pets", fields);
  assert.equal((await answerTo(sandbox.port, sent)).status, 413);
  assert.deepEqual(await counts(sandbox), [50, 0, 0]);
});

everySandbox.test("HEAD is as GET, another path 404, and another method 405 with Allow", async ({ control }) => {
  const head = await fetch(control, { method: "HEAD" });
  assert.deepEqual([head.status, await head.text()], [200, ""]);
  for (const path of ["/", "/pets/1", "/__proto__", "/constructor"]) {
    const { message } = await refused(control + path, {}, 404);
    assert.match(
      message,
      /: the paths are \/sandbox, \/sandbox\/reset, /,
      path,
    );
  }
  const allow = "GET, HEAD, POST, DELETE, OPTIONS";
  const message = `Method not allowed on /sandbox/faults; allowed: ${allow}`;
  const patched = await refused(
    `${control}/faults`,
    { method: "PATCH" },
    405,
  );
  assert.deepEqual(patched, { message, allow });
});

everySandbox.test("the control address refuses a page of another origin, and hosts not its own", async (sandbox) => {
  const { host } = new URL(sandbox.control);
  const own = `Host: ${host}`;
  const answerToReset = async (...fields: readonly string[]) => {
    const all = ["Connection: close", ...fields];
    const sent = rawRequest("POST /sandbox/reset", all);
    const wire = await sandbox.wire(sent.replace("Host: a\r\n", ""));
    return await wire.rest();
  };
  const reset = async (...fields: readonly string[]) =>
    Number((await answerToReset(...fields)).split(" ")[1]);
  await sandbox.tell("POST", "/faults", { lose: true });
  const foreign = [
    [own, "Origin: http://a.example"],
    [own, "Origin: null"],
    [own, "Origin: http://127.0.0.1:1"],
    [own, `Origin: https://${host}`],
    [own, "Sec-Fetch-Site: cross-site"],
    ["Host: a.example"],
    ["Host: a.example", "Origin: http://a.example"],
    ["Host: localhost.a.example"],
  ];
  for (const fields of foreign) {
    assert.equal(await reset(...fields), 403, fields.join());
  }
  const named = await answerToReset("Host: Store.example:80");
  assert.match(
    named,
    /: start the sandbox with --name store\.example","status":403\}$/,
  );
  assert.equal(await reset(), 400);
  assert.deepEqual(await counts(sandbox), [50, 1, 0]);
  const names = ["localhost:1", "a.localhost:", "127.0.0.2", "[::1]:80"];
  for (const name of [...names, "LOCALHOST"]) {
    assert.equal(await reset(`Host: ${name}`), 204, name);
  }
  const old = await sandbox.wire("GET /sandbox HTTP/1.0\r\n\r\n"); // no browser sends it
  assert.match(await old.rest(), /^HTTP\/1\.1 200 /);
  const page = [`Origin: http://${host}`, "Sec-Fetch-Site: same-origin"];
  assert.equal(await reset(own, ...page), 204);
  const { headers } = await fetch(sandbox.control);
  assert.equal(headers.get("access-control-allow-origin"), null);
});
