/** What the service promises of `Idempotency-Key` over HTTP; part of `http_contract.ts`. @module */

import assert from "node:assert/strict";
import { type Answer, ask, type OpenService } from "./ask.ts";
import { assertError } from "./error_reply.ts";

const REX = '{"name":"Rex","categoryId":7}';

/** Registers the clauses, each with `it`, which opens a fresh and empty service for it. */
export function httpIdempotencyContract(
  it: (
    sentence: string,
    check: (service: OpenService) => Promise<void>,
  ) => void,
): void {
  it("a create with an Idempotency-Key that is sent again is answered as before", async (service) => {
    const first = await create(service, REX, '"k-1"');
    assert.equal(first.status, 201);
    assert.equal(first.headers.get("idempotency-replayed"), null);
    for (const form of ['"k-1"', "k-1"]) {
      const again = await create(service, REX, form);
      assert.equal(again.status, 201, form);
      assert.equal(again.text, first.text);
      assert.equal(
        again.headers.get("location"),
        first.headers.get("location"),
      );
      assert.equal(again.headers.get("idempotency-replayed"), "true");
    }
    assert.equal((await list(service)).length, 1);
  });

  it("an equal pet is the same request, however it is written", async (service) => {
    const first = await create(service, REX, "k");
    const equal = [
      '{"categoryId":7.0,"name":"Rex"}',
      '{"categoryId":70e-1,"name":"R\\u0065x","status":"available"}',
      ' {"name":"Rex","categoryId":7,"id":9,"colour":"brown"}',
    ];
    for (const body of equal) {
      const again = await create(service, body, "k");
      assert.equal(again.status, 201, body);
      assert.equal(again.text, first.text);
    }
    assert.equal((await list(service)).length, 1);
  });

  it("another pet with the same Idempotency-Key is 422", async (service) => {
    const first = await create(service, REX, "k");
    const others = [
      '{"name":"rex","categoryId":7}',
      '{"name":"Rex","categoryId":8}',
      '{"name":"Rex","categoryId":7,"status":"sold"}',
    ];
    for (const body of others) {
      const answer = await create(service, body, "k");
      assertError(answer, "idempotency_key_reused");
      assert.equal(answer.headers.get("idempotency-replayed"), null);
      assert.equal(answer.headers.get("location"), null);
    }
    assert.equal((await create(service, REX, "k")).text, first.text);
    assert.equal((await list(service)).length, 1);
  });

  it("a malformed Idempotency-Key is 400, and the message names the header", async (service) => {
    const wrong = ['""', '"a', '"a"b', "a b", "a, b", '"a";x', "k".repeat(256)];
    for (const key of wrong) {
      const message = assertError(
        await create(service, REX, key),
        "bad_request",
      );
      assert.match(message, /Idempotency-Key/);
    }
    assert.deepEqual(await list(service), []);
  });

  it("the API key is checked before the Idempotency-Key, and that before the body", async (service) => {
    const send = (headers: Readonly<Record<string, string>>) =>
      ask(service, "POST", "/pets", {
        body: "{",
        headers: {
          "idempotency-key": '"',
          "content-type": "text/plain",
          ...headers,
        },
      });
    assertError(await send({ authorization: "Bearer wrong" }), "unauthorized");
    assertError(await send({}), "bad_request");
    assertError(
      await send({ "idempotency-key": "k" }),
      "unsupported_media_type",
    );
  });

  it("a create that is refused uses no Idempotency-Key up", async (service) => {
    assertError(await create(service, '{"name":""}', "k"), "bad_request");
    assertError(await create(service, "{", "k"), "bad_request");
    const answer = await create(service, REX, "k");
    assert.equal(answer.status, 201);
    assert.equal(answer.headers.get("idempotency-replayed"), null);
  });
}

function create(
  service: OpenService,
  body: string,
  key: string | undefined,
): Promise<Answer> {
  return ask(service, "POST", "/pets", {
    body,
    headers: { "idempotency-key": key },
  });
}

async function list(service: OpenService): Promise<readonly unknown[]> {
  return JSON.parse((await ask(service, "GET", "/pets")).text);
}
