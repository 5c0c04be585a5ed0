import assert from "node:assert/strict";
import test from "node:test";
import type { ApiKeys } from "../../../core/keys/api_keys.ts";
import { parseBearer } from "../../../core/keys/authenticate.ts";
import { Refusal } from "../../../core/http/refusal.ts";
import { createHandler, type Handler, memoryStorage } from "../../../mod.ts";

const MISSING = 'Bearer realm="petstore"';
const INVALID = 'Bearer realm="petstore", error="invalid_token"';

function challenge(header: string | null): string | undefined {
  const refusal = parseBearer(header);
  assert.ok(refusal instanceof Refusal, `${header}`);
  assert.equal(refusal.status, 401);
  return refusal.headers["www-authenticate"];
}

function handlerWith(keys: ApiKeys): Handler {
  return createHandler({ storage: memoryStorage(), keys });
}

function request(authorization: string): Request {
  return new Request("http://localhost/v1/pets", {
    headers: { authorization },
  });
}

test("parseBearer takes the token behind the scheme, in any case, and spaces", () => {
  assert.equal(parseBearer("Bearer secret"), "secret");
  assert.equal(parseBearer("bEARER   secret"), "secret");
  assert.equal(parseBearer("Bearer Bearer"), "Bearer");
  assert.equal(parseBearer('Bearer !"#,=~'), '!"#,=~');
});

test("parseBearer gives no error code where no bearer credentials were sent", () => {
  const none = [
    null,
    "",
    "Bearer",
    "Bearer ",
    "Basic abc",
    "Bearerx y",
    "XBearer y",
    "Bearer\ty",
    "Bearer=y",
    " Bearer y",
  ];
  for (const header of none) {
    assert.equal(challenge(header), MISSING, `${header}`);
  }
});

test("parseBearer answers invalid_token for credentials that are no token", () => {
  const wrong = ["Bearer a b", "Bearer a, Bearer b", "Bearer a\tb", "Bearer é"];
  for (const header of wrong) assert.equal(challenge(header), INVALID, header);
});

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
  assert.equal(refusal.headers.get("www-authenticate"), INVALID);
  assert.deepEqual(asked, ["good", "bad"]);
});

test("nobody is asked where there is no token", async () => {
  const handle = handlerWith({ verify: () => assert.fail("asked") });
  for (const authorization of ["", "Basic good", "Bearer a b"]) {
    assert.equal((await handle(request(authorization))).status, 401);
  }
});
