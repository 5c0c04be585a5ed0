/**
 * The promises of a pet store after 5 December 2030, when getPet is gone: docs/contract.md. They
 * hold instead of those of getPet, and only where that is expected.
 */

import assert from "node:assert/strict";
import { linked } from "./ask.ts";
import { assertRefused } from "./error_reply.ts";
import {
  type Clauses,
  petIn,
  type PetsClient,
  Unchecked,
} from "./pets_client.ts";

/** Clauses of the time after the removal. */
export const REMOVAL_CLAUSES: Clauses = {
  async "getPet after its removal is 404 before the key, whatever the method"(
    client,
  ) {
    const { id } = await client.addPet();
    for (const petId of [`${id}`, "9223372036854775807", "0", "x"]) {
      for (
        const authorization of [`Bearer ${client.key}`, "Bearer x", undefined]
      ) {
        for (const method of ["GET", "POST", "DELETE", "OPTIONS"]) {
          await assertRemoved(client, method, petId, authorization);
        }
      }
    }
    const { status, text } = await client.send("HEAD", `/pets/${id}`);
    assert.deepEqual([status, text], [404, ""], "HEAD");
  },

  async "after the removal of getPet a 201 and its replay have no Location"(
    client,
  ) {
    const body = client.petJson();
    const headers = { "idempotency-key": crypto.randomUUID() };
    for (const words of ["the first 201", "its replay"]) {
      const answer = await client.post(body, headers);
      petIn(answer, 201);
      const location = answer.headers.get("location");
      assert.ok(
        location === null,
        `${words} has the Location ${location}, which nothing answers`,
      );
    }
  },

  async "the OpenAPI document describes no getPet after its removal"(client) {
    const { status, text } = await client.get("/openapi.json");
    if (status !== 200) throw new Unchecked("it has no /openapi.json");
    assert.doesNotMatch(text, /"getPet"|"\/pets\/\{/, "it describes getPet");
  },
};

async function assertRemoved(
  client: PetsClient,
  method: string,
  petId: string,
  authorization: string | undefined,
): Promise<void> {
  const from = `${client.base}/pets/${petId}`;
  const answer = await client.send(method, from, {
    headers: { authorization },
  });
  const message = assertRefused(answer, 404);
  assert.match(
    message,
    /\bGET \/pets\b/,
    "the message does not name GET /pets",
  );
  const rel = "successor-version";
  const successor = linked(answer, { rel, from });
  assert.equal(successor, `${client.base}/pets`, `Link with rel="${rel}"`);
}
