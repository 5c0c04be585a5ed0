import assert from "node:assert/strict";
import test from "node:test";
import type { ApiKeys } from "../../../core/keys/api_keys.ts";
import { createHandler, type Handler, memoryStorage } from "../../../mod.ts";

function handlerWith(keys: ApiKeys): Handler {
  return createHandler({ storage: memoryStorage(), keys });
}

function request(authorization: string): Request {
  return new Request("http://localhost/v1/pets", {
    headers: { authorization },
  });
}

test("the checker is asked for the token alone, and its word is the answer", async () => {
  const asked: string[] = [];
  const handle = handlerWith({
    verify(key) {
      asked.push(key);
      return Promise.resolve(key === "good");
    },
  });
  assert.equal((await handle(request("Bearer good"))).status, 200);
  const refusal = await handle(request("Bearer bad"));
  assert.equal(refusal.status, 401);
  assert.deepEqual(asked, ["good", "bad"]);
});

test("the checker is not asked if there is no token", async () => {
  const handle = handlerWith({ verify: () => assert.fail("asked") });
  for (const authorization of ["", "Basic good", "Bearer a b"]) {
    assert.equal((await handle(request(authorization))).status, 401);
  }
});
