import assert from "node:assert/strict";
import test from "node:test";
import { authenticate, parseBearer } from "../../core/authenticate.ts";
import { ApiError } from "../../core/error.ts";

const MISSING = 'Bearer realm="petstore"';
const INVALID = 'Bearer realm="petstore", error="invalid_token"';

function challenge(header: string | null): string | undefined {
  const refusal = parseBearer(header);
  assert.ok(refusal instanceof ApiError, `${header}`);
  assert.equal(refusal.status, 401);
  return refusal.headers["www-authenticate"];
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

test("authenticate asks the checker for the token alone", async () => {
  const asked: string[] = [];
  const keys = {
    verify(key: string) {
      asked.push(key);
      return Promise.resolve(key === "good");
    },
  };
  const request = (authorization: string) =>
    new Request("http://localhost/", { headers: { authorization } });
  assert.equal(await authenticate(request("Bearer good"), keys), undefined);
  const refusal = await authenticate(request("Bearer bad"), keys);
  assert.ok(refusal instanceof ApiError);
  assert.equal(refusal.headers["www-authenticate"], INVALID);
  assert.deepEqual(asked, ["good", "bad"]);
});

test("authenticate asks nobody where there is no token", async () => {
  const keys = { verify: () => assert.fail("asked") };
  for (const authorization of ["", "Basic good", "Bearer a b"]) {
    const request = new Request("http://localhost/", {
      headers: { authorization },
    });
    assert.ok(await authenticate(request, keys) instanceof ApiError);
  }
});
