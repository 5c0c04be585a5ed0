import { fc } from "../../support/property.ts";
import assert from "node:assert/strict";
import test from "node:test";
import { createRateLimiter } from "../../../adapters/standalone/rate_limit.ts";

/** A limiter with a clock that the test sets. */
function limiter(requests: number, seconds: number, maxCallers?: number) {
  const clock = { time: 0 };
  const limit = createRateLimiter("key", { requests, seconds }, {
    now: () => clock.time,
    ...maxCallers === undefined ? {} : { maxCallers },
  });
  const fields = (caller: string) => {
    const { allowed, headers } = limit(caller);
    return { allowed, ...headers };
  };
  const isAllowed = (caller: string) => limit(caller).allowed;
  return { clock, fields, isAllowed };
}

test("every request is told the limit and what is left of it, and one too many how long to wait", () => {
  const { clock, fields } = limiter(2, 10);
  const policy = { "ratelimit-policy": '"key";q=2;w=10' };
  const within = (left: number, wait: number) => ({
    allowed: true,
    ...policy,
    ratelimit: `"key";r=${left};t=${wait}`,
  });
  const beyond = (wait: number) => ({
    allowed: false,
    ...policy,
    ratelimit: `"key";r=0;t=${wait}`,
    "retry-after": `${wait}`,
  });
  assert.deepEqual(fields("a"), within(1, 10));
  clock.time = 4_400;
  assert.deepEqual(fields("a"), within(0, 6));
  assert.deepEqual(fields("a"), beyond(6));
  assert.deepEqual(fields("b"), within(1, 10), "another caller");
  clock.time = 9_999;
  assert.deepEqual(fields("a"), beyond(1));
  clock.time = 10_000;
  assert.deepEqual(fields("a"), within(1, 10));
});

/**
 * The law: a caller's window begins with a request that is let through and is `seconds` long; exactly
 * the first `requests` of it are let through. The oracle keeps every time there was.
 */
test("in each window of each caller exactly the first requests are let through", () => {
  fc.assert(fc.property(
    fc.integer({ min: 1, max: 5 }),
    fc.integer({ min: 1, max: 3 }),
    fc.array(
      fc.record({
        caller: fc.constantFrom("a", "b", "c"),
        pause: fc.oneof(
          fc.integer({ min: 0, max: 400 }),
          fc.constantFrom(999, 1000, 1001, 3000, 7000),
        ),
      }),
      { maxLength: 60 },
    ),
    (requests, seconds, steps) => {
      const { clock, fields } = limiter(requests, seconds);
      const windows = new Map<string, number[]>();
      for (const { caller, pause } of steps) {
        clock.time += pause;
        const answer = fields(caller);
        let window = windows.get(caller) ?? [];
        const [start = -Infinity] = window;
        if (clock.time >= start + seconds * 1000) {
          window = [];
          windows.set(caller, window);
        }
        if (window.length < requests) {
          assert.equal(answer.allowed, true);
          window.push(clock.time);
        } else {
          const wait = Math.ceil(
            ((window[0] ?? 0) + seconds * 1000 - clock.time) / 1000,
          );
          assert.equal(answer.allowed, false);
          assert.ok("retry-after" in answer);
          assert.equal(answer["retry-after"], String(wait));
          assert.ok(wait >= 1 && wait <= seconds);
        }
      }
    },
  ));
});

test("a flood of callers takes no more than its bound, and lets the first of them begin anew", () => {
  const { isAllowed } = limiter(1, 10, 4);
  assert.equal(isAllowed("a"), true);
  assert.equal(isAllowed("a"), false);
  for (const other of ["b", "c", "d"]) assert.equal(isAllowed(other), true);
  assert.equal(isAllowed("a"), false, "four are remembered");
  assert.equal(isAllowed("e"), true);
  assert.equal(isAllowed("a"), true, "the fifth drives out the first two");
  assert.equal(isAllowed("e"), false);
});
