/** Bodies that are not JSON, from JSONTestSuite: no parser may accept them. */
import assert from "node:assert/strict";
import test from "node:test";
import { createClient } from "../../adapters/client/mod.ts";
import { ask } from "../contract/ask.ts";
import { assertError } from "../contract/error_reply.ts";
import { handleService } from "../support/handle_service.ts";
import { readText } from "../support/repository.ts";

const DATA = readText("tests/data/json_test_suite/not_json.json");
const bodies = Object.entries<string>(JSON.parse(DATA))
  .map(([name, text]) =>
    [name, Uint8Array.from(text, (byte) => byte.charCodeAt(0))] as const
  );
assert.equal(bodies.length, 186);

/**
 * The beginning of a message about an unreadable body; one about its members begins differently.
 */
const UNREADABLE = /^Cannot read .*body: it is (?:missing|not )/;

test("createPet refuses every body that is not JSON, and says why", async () => {
  const service = handleService();
  for (const [name, body] of bodies) {
    const answer = await ask(service, "POST", "/pets", { body });
    assert.match(assertError(answer, "bad_request"), UNREADABLE, name);
  }
  assert.equal((await ask(service, "GET", "/pets")).text, "[]");
});

test("the client refuses every response that is not JSON", async () => {
  for (const [name, body] of bodies) {
    const client = createClient({
      baseUrl: "http://localhost/v1",
      key: "secret",
      fetch: () => new Response(body),
    });
    const failure = {
      code: "invalid_response",
      message: /: the response is not JSON /,
    };
    await assert.rejects(client.getPet(1n), failure, name);
  }
});
