/** Timeouts, aborts, and what is left behind by a call: nothing. */
import assert from "node:assert/strict";
import test from "node:test";
import type { CallOptions, Client } from "../../../adapters/client/mod.ts";
import {
  collect,
  failure,
  json,
  noConnection,
  page,
  petJson,
  refusal,
  rejectsWith,
  REX,
  scripted,
  type Step,
  testClock,
  watchedBody,
} from "./scripted.ts";
import { fc, runs } from "../../support/property.ts";

const CALLS: readonly ((
  client: Client,
  options: CallOptions,
) => Promise<unknown>)[] = [
  (client, options) => client.listPets({}, options),
  (client, options) => client.getPet(1n, options),
  (client, options) => client.createPet(REX, options),
  (client, options) => collect(client.pets({}, options)),
];

/** Never answers, and pays no heed to the signal. */
const hang = () => new Promise<never>(() => {});

test("a request without a response in time is a timeout", async () => {
  const clock = testClock();
  const late: Step = () => {
    queueMicrotask(clock.expire);
    return hang();
  };
  const { client, requests } = scripted([late, late, late, late], {
    clock,
    retries: 0,
  });
  for (const call of CALLS) {
    const error = await failure(call(client, {}));
    assert.equal(error.code, "timeout");
    assert.equal(error.status, undefined);
    assert.match(
      error.message,
      /no complete response in time from http:\/\/localhost$/,
    );
    assert.equal(requests.at(-1)?.signal.aborted, true);
    assert.equal(clock.live, 0);
  }
});

test("a body that stops coming is a timeout with the status, and is cancelled", async () => {
  const clock = testClock();
  const watched = watchedBody(["["], "hangs");
  const { client } = scripted([() => {
    setTimeout(clock.expire, 1);
    return new Response(watched.body);
  }], { clock, retries: 0 });
  const error = await failure(client.listPets());
  assert.equal(error.code, "timeout");
  assert.equal(error.status, 200);
  assert.equal(watched.fate, "cancelled");
  assert.equal(clock.live, 0);
});

test("a response that comes too late is cancelled", async () => {
  const clock = testClock();
  const watched = watchedBody([petJson(1n)]);
  let respond = (_response: Response): void => {};
  const { client } = scripted([() => {
    queueMicrotask(clock.expire);
    return new Promise((resolve) => respond = resolve);
  }], { clock, retries: 0 });
  await failure(client.getPet(1n));
  respond(new Response(watched.body));
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(watched.fate, "cancelled");
});

// An unhandled rejection fails the test that is running.
test("a response without a body that comes after an abort leaves no rejection", async () => {
  const controller = new AbortController();
  let respond = (_response: Response): void => {};
  const { client } = scripted([() => {
    queueMicrotask(() => controller.abort("enough"));
    return new Promise((resolve) => respond = resolve);
  }]);
  await rejectsWith(client.getPet(1n, { signal: controller.signal }), "enough");
  respond(new Response(null, { status: 204 }));
  await new Promise((resolve) => setTimeout(resolve));
});

test("a signal that is aborted before the call rejects with its reason, and nothing is sent", async () => {
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

test("a signal that aborts while there is no response rejects with its reason, if retries are left or not", async () => {
  for (const [i, call] of [...CALLS, ...CALLS].entries()) {
    const controller = new AbortController();
    const reason = { why: "enough" };
    const { client, requests, clock } = scripted([() => {
      queueMicrotask(() => controller.abort(reason));
      return hang();
    }], { retries: i % 2 });
    await rejectsWith(call(client, { signal: controller.signal }), reason);
    assert.equal(requests[0]?.signal.aborted, true);
    assert.equal(clock.live, 0);
  }
});

test("a signal that aborts while the body comes rejects with its reason, and the body is cancelled", async () => {
  const controller = new AbortController();
  const reason = new Error("enough");
  const watched = watchedBody(["["], "hangs");
  const { client, clock } = scripted([() => {
    setTimeout(() => controller.abort(reason), 1);
    return new Response(watched.body);
  }]);
  await rejectsWith(client.listPets({}, { signal: controller.signal }), reason);
  assert.equal(watched.fate, "cancelled");
  assert.equal(clock.live, 0);
});

test("a signal that aborts during a pause rejects with its reason, and no timer is left", async () => {
  const controller = new AbortController();
  const reason = new Error("enough");
  const clock = testClock({ holds: true });
  const { client, requests } = scripted([() => {
    setTimeout(() => controller.abort(reason), 1);
    return page(503);
  }], { clock });
  await rejectsWith(client.listPets({}, { signal: controller.signal }), reason);
  assert.equal(requests.length, 1);
  assert.equal(clock.pauses.length, 1);
  assert.equal(clock.live, 0);
});

test("a signal that aborts just before a pause rejects with its reason", async () => {
  const controller = new AbortController();
  const reason = new Error("enough");
  const { client } = scripted([page(503)], {
    clock: testClock({ holds: true }),
    random() {
      controller.abort(reason);
      return 0.5;
    },
  });
  await rejectsWith(client.listPets({}, { signal: controller.signal }), reason);
});

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

test("a signal that serves many calls gathers no listeners", async () => {
  let listeners = 0;
  const { signal } = new AbortController();
  const watched = new Proxy(signal, {
    get(target, name) {
      if (name === "addEventListener") {
        return (...args: Parameters<AbortSignal["addEventListener"]>) => {
          listeners++;
          target.addEventListener(...args);
        };
      }
      if (name === "removeEventListener") {
        return (...args: Parameters<AbortSignal["removeEventListener"]>) => {
          listeners--;
          target.removeEventListener(...args);
        };
      }
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const { client, requests } = scripted([
    json("[]"),
    page(503),
    noConnection,
    json("[]"),
    page(404),
  ]);
  await client.listPets({}, { signal: watched });
  await client.listPets({}, { signal: watched });
  await failure(client.listPets({}, { signal: watched }));
  assert.equal(requests.length, 5);
  assert.equal(listeners, 0);
});

// However a call ends: no timer is set, and every body was read, cancelled, or failed by itself.
test("no call leaves a timer or an open body", async () => {
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
            // What hangs for ever is ended by the timeout at last.
            if (end === "hangs") setTimeout(clock.expire, 2);
            return new Response(bodies[i]?.body ?? null, { status });
          }),
          { clock, retries: 2 },
        );
        await CALLS[call]?.(client, { signal: controller.signal })
          .catch(() => {});
        await new Promise((resolve) => setTimeout(resolve));
        assert.equal(clock.live, 0);
        for (const [i, { fate }] of bodies.entries()) {
          if (i < requests.length) assert.notEqual(fate, "open");
        }
      },
    ),
    runs(300),
  );
});

test("a fetch that throws at once or answers without a promise is as good as any", async () => {
  const { client } = scripted([
    () => json(petJson(1n)),
    () => {
      throw new RangeError("at once");
    },
  ], { retries: 0 });
  assert.equal((await client.getPet(1n)).id, 1n);
  const error = await failure(client.getPet(1n));
  assert.equal(error.code, "network_error");
  assert.ok(error.cause instanceof RangeError);
});

test("a fetch that rejects with a string is a network_error that shows it", async () => {
  const { client } = scripted([() => Promise.reject("no route")], {
    retries: 0,
  });
  const error = await failure(client.getPet(1n));
  assert.equal(error.code, "network_error");
  assert.equal(error.cause, "no route");
  assert.match(error.message, / no response from .+ \(no route\)$/);
});

test("the body of a refusal is read, so that the connection can be used again", async () => {
  const watched = watchedBody(["<html>", "</html>"]);
  const { client } = scripted([new Response(watched.body, { status: 404 })]);
  await failure(client.getPet(1n));
  assert.equal(watched.fate, "read");
  const { client: other } = scripted([refusal("not_found", 404)]);
  assert.equal((await failure(other.getPet(1n))).code, "not_found");
});
