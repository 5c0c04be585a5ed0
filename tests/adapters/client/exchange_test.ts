/** Timeouts and aborts; a call leaves nothing behind. */
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import test from "node:test";
import type { CallOptions, Client } from "../../../adapters/client/mod.ts";
import {
  failure,
  json,
  page,
  petJson,
  scripted,
  testClock,
  watchedBody,
} from "./scripted.ts";
import { fc, runs } from "../../support/property.ts";
import { REX } from "../../support/pets.ts";

const CALLS: readonly ((
  client: Client,
  options: CallOptions,
) => Promise<unknown>)[] = [
  (client, options) => client.listPets({}, options),
  (client, options) => client.getPet(1n, options),
  (client, options) => client.createPet(REX, options),
  (client, options) => Array.fromAsync(client.pets({}, options)),
];

/** Asserts that a promise rejects with this very reason. */
const rejectsWith = (promise: Promise<unknown>, reason: unknown) =>
  assert.rejects(promise, (error) => Object.is(error, reason));

/** Ends an exchange early, either as its timer does or as the caller's signal does. */
function early(end: "timeout" | "abort") {
  const clock = testClock();
  const controller = new AbortController();
  const reason = { why: "enough" };
  const happen = () =>
    end === "timeout" ? clock.expire() : controller.abort(reason);
  async function check(call: Promise<unknown>, status?: number): Promise<void> {
    if (end === "abort") return await rejectsWith(call, reason);
    const error = await failure(call);
    assert.deepEqual([error.code, error.status], ["timeout", status]);
    assert.match(
      error.message,
      /complete response in time from http:\/\/localhost$/,
    );
    assert.equal(`${error.cause}`, "TimeoutError: It took too long");
  }
  return { clock, happen, check, options: { signal: controller.signal } };
}

for (const end of ["timeout", "abort"] as const) {
  test(`a ${end} while there is no response ends any call, retries left or not`, async () => {
    for (const retries of end === "timeout" ? [0] : [0, 1]) {
      for (const call of CALLS) {
        const { clock, happen, check, options } = early(end);
        const { client, requests } = scripted([() => {
          queueMicrotask(happen);
          return new Promise(() => {}); // whatever the signal says
        }], { clock, retries });
        await check(call(client, options));
        assert.equal(requests[0]?.signal.aborted, true, `${call}`);
        assert.equal(clock.live, 0, `${call}`);
      }
    }
  });

  test(`a ${end} while a body comes ends the call, and the body is cancelled`, async () => {
    const { clock, happen, check, options } = early(end);
    const watched = watchedBody(["["], "hangs");
    const { client } = scripted([() => {
      setTimeout(happen, 1); // once the client reads, which takes microtasks
      return new Response(watched.body);
    }], { clock, retries: 0 });
    await check(client.listPets({}, options), 200);
    assert.equal(watched.fate, "cancelled");
    assert.equal(clock.live, 0);
  });
}

test("a signal that is aborted before the call rejects at once, and nothing is sent", async () => {
  const { client, requests, clock } = scripted([]);
  for (const reason of [new Error("why"), "text", null, 0]) {
    const signal = AbortSignal.abort(reason);
    for (const call of CALLS) {
      await rejectsWith(call(client, { signal }), reason);
    }
  }
  await assert.rejects(
    client.listPets({}, { signal: AbortSignal.abort() }),
    { name: "AbortError" },
  );
  assert.equal(requests.length, 0);
  assert.equal(clock.live, 0);
});

for (const moment of ["during", "just before"]) {
  test(`a signal that aborts ${moment} a pause rejects, and leaves no timer`, async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    const abort = () => controller.abort(reason);
    const clock = testClock({ holds: true });
    const { client, requests } = scripted([() => {
      // Once the client pauses, which takes microtasks; the pause does not end by itself.
      if (moment === "during") setTimeout(abort, 1);
      return page(503);
    }], {
      clock,
      random() {
        if (moment === "just before") abort();
        return 0.5;
      },
    });
    const { signal } = controller;
    await rejectsWith(client.listPets({}, { signal }), reason);
    assert.equal(requests.length, 1);
    assert.equal(clock.live, 0);
  });
}

test("a signal that aborts between two pets ends a walk with its reason", async () => {
  const controller = new AbortController();
  const reason = new Error("enough");
  const { client } = scripted([json(`[${petJson(1n)},${petJson(2n)}]`)]);
  const seen: bigint[] = [];
  await assert.rejects(async () => {
    for await (const pet of client.pets({}, { signal: controller.signal })) {
      seen.push(pet.id);
      controller.abort(reason);
    }
  }, (error) => error === reason);
  assert.deepEqual(seen, [1n]);
});

// However a call ends: no timer is set, nobody listens to the signal, and every body was read,
// cancelled, or failed by itself.
test("no call leaves a timer, a listener or an open body", async () => {
  const step = fc.record({
    status: fc.constantFrom(200, 201, 302, 404, 429, 500, 503),
    chunks: fc.array(fc.constantFrom("[", "]", "{}", "x"), { maxLength: 3 }),
    end: fc.constantFrom("ends", "hangs", "fails"),
    then: fc.constantFrom("nothing", "expire", "abort"),
    delay: fc.constantFrom("now", "microtask", "later"),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 3, maxLength: 3 }),
      fc.nat({ max: CALLS.length - 1 }),
      async (steps, call) => {
        const controller = new AbortController();
        const clock = testClock();
        const bodies = steps.map(({ chunks, end }) => watchedBody(chunks, end));
        const { client, requests } = scripted(
          steps.map(({ status, end, then, delay }, i) => () => {
            const happen = () => {
              if (then === "abort") controller.abort();
              else if (then === "expire" || end === "hangs") clock.expire();
            };
            if (delay === "now") happen();
            else if (delay === "microtask") queueMicrotask(happen);
            else setTimeout(happen);
            // The timeout ends a body that never ends.
            if (end === "hangs") setTimeout(clock.expire, 2);
            return new Response(bodies[i]?.body ?? null, { status });
          }),
          { clock, retries: 2 },
        );
        await CALLS[call]?.(client, { signal: controller.signal })
          .catch(() => {});
        await new Promise((resolve) => setTimeout(resolve));
        assert.equal(clock.live, 0);
        assert.deepEqual(getEventListeners(controller.signal, "abort"), []);
        for (const [i, { fate }] of bodies.entries()) {
          if (i < requests.length) assert.notEqual(fate, "open");
        }
      },
    ),
    runs(300),
  );
});
