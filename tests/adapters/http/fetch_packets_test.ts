/** Requests that arrive in pieces, while the service is busy. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { toHandler } from "../../../core/handler.ts";
import type { Service } from "../../../core/answer.ts";
import { apiKeys, createHandler, memoryStorage } from "../../../mod.ts";
import { REX_JSON } from "../../support/pets.ts";
import { fc, runs } from "../../support/property.ts";
import { RUNTIME } from "../../support/runtime.ts";
import { listen } from "../../support/server.ts";
import { turns } from "../../support/time.ts";
import { openWire, rawRequest, WITH_KEY } from "../../support/wire.ts";

const CHUNKS = `5;a="b"\r\n     \r\n1d\r\n${REX_JSON}\r\n0\r\n\r\n`;
const post = (body?: string, field = "Accept: */*", key = WITH_KEY) =>
  rawRequest("POST /v1/pets", [key, field], body);

const request = fc.constantFrom(
  rawRequest("GET /v1/pets", [WITH_KEY]),
  rawRequest("DELETE /v1/pets", [WITH_KEY], "unwanted"),
  post(REX_JSON),
  post(" ".repeat(300) + REX_JSON),
  post(REX_JSON, "Expect: 100-continue"),
  post(undefined, "Transfer-Encoding: chunked") + CHUNKS,
  post("{}"),
  post(REX_JSON, "Accept: */*", "Authorization: Bearer wrong"),
);
const conversation = fc.array(request, { minLength: 1, maxLength: 4 });
const positions = fc.array(fc.nat(), { maxLength: 12 });

test(`${RUNTIME}: however requests are cut into packets, the answers are the same`, async (t) => {
  let service: Service;
  const server = await listen(t, toHandler((...call) => service(...call)));

  /** Sends requests to a new pet store, which begins with packet `late`. Returns the answers. */
  async function converse(sent: string[], cuts: number[] = [], late = 0) {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const keys = apiKeys(["secret"]);
    const { answer } = createHandler({ storage: memoryStorage(), keys });
    service = (...call) => begun.then(() => answer(...call));
    const answers: unknown[] = [];
    let wire = await openWire(t, server);
    // Deno and Bun may close a connection on which requests come before the answer to another.
    for (const part of RUNTIME === "node" ? [sent] : sent.map((one) => [one])) {
      const bytes = part.join("");
      const ends = [...cuts.map((cut) => cut % bytes.length), bytes.length];
      let start = 0;
      for (const [i, end] of ends.sort((a, b) => a - b).entries()) {
        if (i === late) begin();
        wire.write(bytes.slice(start, end));
        await turns(2); // it arrives alone
        start = end;
      }
      begin();
      for (const _request of part) {
        let { status, lines, body } = await wire.answer();
        if (status === 100) ({ status, lines, body } = await wire.answer());
        const fields = lines.filter((line) =>
          !/^(?:date|conn|keep)/.test(line)
        );
        answers.push({ status, fields, body });
        if (lines.includes("connection: close")) {
          wire = await openWire(t, server);
        }
      }
    }
    wire.close();
    return answers;
  }

  const law = fc.asyncProperty(
    conversation,
    positions,
    fc.nat(12),
    async (sent, cuts, late) => {
      const whole = await converse(sent);
      assert.deepEqual(await converse(sent, cuts, late), whole);
    },
  );
  await fc.assert(law, runs(50));
});
