/** The day `getPet` is gone; the contract tests what it does until then. */
import assert from "node:assert/strict";
import test from "node:test";
import { memoryStorage } from "../../adapters/storage/memory/mod.ts";
import { apiKeys } from "../../core/keys.ts";
import { createHandler } from "../../adapters/handler.ts";
import { ask } from "../contract/ask.ts";
import { handleService } from "../support/handle_service.ts";
import { REX_JSON } from "../support/pets.ts";

const MESSAGE =
  "GET /pets/{petId} was removed on 5 December 2030. Use GET /pets with a status";

test("after the removal a pet's path is 404 before the key, whatever the method", async () => {
  const service = handleService({ getPet: false });
  await ask(service, "POST", "/pets", { body: REX_JSON });
  const noKey = { authorization: undefined };
  for (const method of ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "BREW"]) {
    for (const headers of [{}, noKey]) {
      for (const path of ["/pets/1", "/pets/%31", "/pets/x", "/pets/1?a"]) {
        const answer = await ask(service, method, path, { headers });
        assert.equal(answer.status, 404, `${method} ${path}`);
        const link = answer.headers.get("link");
        assert.equal(
          link,
          '<../pets>; rel="successor-version"',
          `${method} ${path}`,
        );
        assert.equal(answer.headers.get("sunset"), null, `${method} ${path}`);
        if (method === "HEAD") continue;
        const error = { code: "not_found", message: MESSAGE, status: 404 };
        assert.deepEqual(JSON.parse(answer.text), error, `${method} ${path}`);
      }
    }
  }
  for (const path of ["/pets/", "/pets/1/photos", "/pet/1", "/orders"]) {
    const { status, headers } = await ask(service, "GET", path);
    assert.deepEqual([status, headers.get("link")], [404, null], path);
  }
});

test("after the removal a 201 and its replay have no Location", async () => {
  const service = handleService({ getPet: false });
  const sent = { body: REX_JSON, headers: { "idempotency-key": "1" } };
  const created = await ask(service, "POST", "/pets", sent);
  const replay = await ask(service, "POST", "/pets", sent);
  for (const { status, headers } of [created, replay]) {
    assert.deepEqual([status, headers.get("location")], [201, null]);
  }
  assert.equal(replay.headers.get("idempotent-replayed"), "true");
  const listed = await ask(service, "GET", "/pets?status=available");
  assert.match(listed.text, /^\[\{"id":1,/);
});

test("under an absolute base address the link to the list is absolute", async () => {
  const baseUrl = "https://api.example.com/shop/v1";
  const service = handleService({ getPet: false, baseUrl });
  const { headers } = await ask(
    service,
    "GET",
    "http://localhost/shop/v1/pets/1",
  );
  const link = `<${baseUrl}/pets>; rel="successor-version"`;
  assert.equal(headers.get("link"), link);
});

test("getPet must be true or false", () => {
  const options = { storage: memoryStorage(), keys: apiKeys(["k"]) };
  for (const getPet of ["no", 0, null]) {
    assert.throws(
      () => createHandler({ ...options, getPet: getPet as never }),
      /^TypeError: Wrong option getPet: it must be true or false, not /,
      `${getPet}`,
    );
  }
});
