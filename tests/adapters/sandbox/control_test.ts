/** The control address, on each runtime. */
import assert from "node:assert/strict";
import { answerTo, openWire, rawRequest } from "../../support/wire.ts";
import { onEverySandbox, type RunningSandbox } from "./sandbox_program.ts";

const it = onEverySandbox();
const JSON_TYPE = { "content-type": "application/json" };

/** A summary of the state. */
async function state({ drive }: RunningSandbox) {
  const { pets, faults, requests } = (await drive("GET")).json as {
    readonly pets: number;
    readonly faults: readonly unknown[];
    readonly requests: number;
  };
  return [pets, faults.length, requests];
}

/** Asserts that a request is refused with an Error body, whose message it returns. */
async function refused(
  url: string,
  init: RequestInit,
  status: number,
): Promise<string> {
  const response = await fetch(url, init);
  const body = await response.json();
  assert.deepEqual(
    [response.status, body.status],
    [status, status],
    body.message,
  );
  assert.deepEqual(Object.keys(body).sort(), ["code", "message", "status"]);
  return body.message;
}

it("GET has the numbers of pets and requests, and the faults; reset starts anew", async (sandbox) => {
  const { drive, send } = sandbox;
  assert.deepEqual((await drive("GET")).json, {
    pets: 50,
    faults: [],
    requests: 0,
  });
  const fault = { times: 2, answer: { status: 503 }, when: { method: "GET" } };
  assert.deepEqual(await drive("POST", "/faults", fault), {
    status: 204,
    json: undefined,
  });
  await send(
    "POST /v1/pets\nIdempotency-Key: 1",
    '{"name":"Rex","categoryId":1}',
  );
  assert.deepEqual((await drive("GET")).json, {
    pets: 51,
    faults: [fault],
    requests: 1,
  });
  assert.deepEqual(await drive("POST", "/reset"), {
    status: 204,
    json: undefined,
  });
  assert.deepEqual(await state(sandbox), [50, 0, 0]);
  const again = await send(
    "POST /v1/pets\nIdempotency-Key: 1",
    '{"name":"Ivy","categoryId":1}',
  );
  assert.match(again, /^HTTP\/1.1 201 [^]*"id":51,"name":"Ivy"/);
  assert.doesNotMatch(again, /^idempotency-replayed:/im);
});

it("PUT pets is the seed from now on, and resets to it", async (sandbox) => {
  const { drive, send } = sandbox;
  await drive("POST", "/faults", { lose: true });
  const pets =
    '[{"name":"Ivy","categoryId":9223372036854775807},{"name":"Zo\u00eb","categoryId":-1,"status":"sold"}]';
  assert.deepEqual(await drive("PUT", "/pets", pets), {
    status: 204,
    json: undefined,
  });
  assert.deepEqual(await state(sandbox), [2, 0, 0]);
  const list = await send("GET /v1/pets");
  assert.match(
    list,
    /\[\{"id":1,"name":"Ivy","categoryId":9223372036854775807,"status":"available"\},\{"id":2,/,
  );
  await drive("POST", "/reset");
  assert.deepEqual(await state(sandbox), [2, 0, 0]);
  await drive("PUT", "/pets", 7);
  assert.deepEqual(await state(sandbox), [7, 0, 0]);
});

it("faults are added behind those that wait, listed and removed", async ({ drive }) => {
  const faults = [{ lose: true }, { delay: 5 }, { cut: 1, times: "always" }];
  await drive("POST", "/faults", faults[0]);
  await drive("POST", "/faults", faults.slice(1));
  assert.deepEqual(await drive("GET", "/faults"), {
    status: 200,
    json: faults,
  });
  assert.deepEqual(await drive("DELETE", "/faults"), {
    status: 204,
    json: undefined,
  });
  assert.deepEqual((await drive("GET", "/faults")).json, []);
});

it("requests lists what came to the service alone, and is emptied", async ({ drive, send, url, key }) => {
  await drive("POST", "/faults", { answer: { status: 500 } });
  await send("GET /v1/pets");
  await send("POST /v1/pets", '{"name":"","categoryId":1}');
  await send("GET /sandboxes");
  const { host } = new URL(url);
  const headers = { host, connection: "close", authorization: `Bearer ${key}` };
  assert.deepEqual((await drive("GET", "/requests")).json, [
    {
      method: "GET",
      target: "/v1/pets",
      headers,
      body: null,
      status: 500,
      fault: { answer: { status: 500 } },
    },
    {
      method: "POST",
      target: "/v1/pets",
      headers: { ...headers, ...JSON_TYPE, "content-length": "26" },
      body: '{"name":"","categoryId":1}',
      status: 400,
    },
    { method: "GET", target: "/sandboxes", headers, body: null, status: 404 },
  ]);
  assert.deepEqual(await drive("DELETE", "/requests"), {
    status: 204,
    json: undefined,
  });
  assert.deepEqual((await drive("GET", "/requests")).json, []);
});

it("what is wrong is a 400 that names it, and changes nothing", async (sandbox) => {
  const { control } = sandbox;
  const post = (path: string, body: string, method = "POST") =>
    refused(control + path, { method, body, headers: JSON_TYPE }, 400);
  assert.equal(
    await post("/faults", '[{"lose":true},{"lose":1}]'),
    "Cannot add fault 2: lose must be true",
  );
  assert.equal(
    await post("/faults", "{"),
    "Cannot read the body: it is not valid JSON",
  );
  assert.match(
    await post("/faults", "[".repeat(1_000_000) + "]".repeat(1_000_000)),
    /^Cannot /,
  );
  assert.equal(
    await post("/faults", ""),
    "Cannot read the body: it is missing",
  );
  assert.match(
    await post("/pets", '[{"name":"A","categoryId":1},{"name":"B"}]', "PUT"),
    /pet 2: categoryId is required$/,
  );
  assert.match(
    await post("/pets", "100001", "PUT"),
    /^Cannot seed pets: .*, at most 100000$/,
  );
  assert.match(
    await post("/pets", '"50"', "PUT"),
    /^Cannot seed pets: it must be an array/,
  );
  assert.deepEqual(await state(sandbox), [50, 0, 0]);
});

it("a body must be JSON and no larger than 16 MiB", async (sandbox) => {
  const { control } = sandbox;
  for (const type of ["text/plain", "application/x-www-form-urlencoded"]) {
    const headers = { "content-type": type };
    await refused(`${control}/faults`, {
      method: "POST",
      body: '{"lose":true}',
      headers,
    }, 415);
  }
  const fields = ["Host: localhost", "Content-Length: 16777217"];
  const sent = rawRequest("PUT /sandbox/pets", fields);
  assert.equal((await answerTo(sandbox.port, sent)).status, 413);
  assert.deepEqual(await state(sandbox), [50, 0, 0]);
});

it("another path is 404, and another method 405 with Allow", async ({ control }) => {
  for (const path of ["/", "/pets/1", "/__proto__", "/constructor"]) {
    assert.match(
      await refused(control + path, {}, 404),
      /: the paths are \/sandbox, \/sandbox\/reset, /,
    );
  }
  const allowed = {
    "": "GET",
    "/reset": "POST",
    "/pets": "PUT",
    "/faults": "GET, POST, DELETE",
    "/requests": "GET, DELETE",
  };
  for (const [path, allow] of Object.entries(allowed)) {
    const response = await fetch(control + path, { method: "PATCH" });
    assert.deepEqual([response.status, response.headers.get("allow")], [
      405,
      allow,
    ]);
    assert.equal(
      (await response.json()).message,
      `Method not allowed on /sandbox${path}; allowed: ${allow}`,
    );
  }
});

it(
  "the control address refuses a page of another origin, and hosts not its own",
  async (sandbox, t) => {
    const { host } = new URL(sandbox.control);
    const own = `Host: ${host}`;
    const reset = async (...fields: readonly string[]) => {
      const all = ["Connection: close", ...fields];
      const sent = rawRequest("POST /sandbox/reset", all);
      const wire = await openWire(t, sandbox, sent.replace("Host: a\r\n", ""));
      return Number((await wire.rest()).split(" ")[1]);
    };
    await sandbox.drive("POST", "/faults", { lose: true });
    for (
      const fields of [
        [own, "Origin: http://a.example"],
        [own, "Origin: null"],
        [own, "Origin: http://127.0.0.1:1"],
        [own, `Origin: https://${host}`],
        [own, "Sec-Fetch-Site: cross-site"],
        ["Host: a.example"],
        ["Host: a.example", "Origin: http://a.example"],
        ["Host: localhost.a.example"],
      ]
    ) {
      assert.equal(await reset(...fields), 403, fields.join());
    }
    assert.equal(await reset(), 400);
    assert.deepEqual(await state(sandbox), [50, 1, 0]);
    const names = ["localhost:1", "a.localhost", "127.0.0.2", "[::1]:80"];
    for (const name of [...names, "LOCALHOST"]) {
      assert.equal(await reset(`Host: ${name}`), 204, name);
    }
    const page = [`Origin: http://${host}`, "Sec-Fetch-Site: same-origin"];
    assert.equal(await reset(own, ...page), 204);
  },
);
