import { fc } from "../../support/property.ts";
import assert from "node:assert/strict";
import test from "node:test";
import { createRateLimiter } from "../../../adapters/standalone/rate_limit.ts";

/** A limiter with a clock that the test sets. */
function limiter(requests: number, seconds: number, maxCallers?: number) {
  const clock = { time: 0 };
  const limit = createRateLimiter({ requests, seconds }, {
    now: () => clock.time,
    ...maxCallers === undefined ? {} : { maxCallers },
  });
  return { clock, limit };
}

test("one request too many is told the limit, and how long to wait", () => {
  const { clock, limit } = limiter(2, 10);
  assert.equal(limit("a"), undefined);
  clock.time = 4_400;
  assert.equal(limit("a"), undefined);
  assert.deepEqual(limit("a"), {
    "retry-after": "6",
    "ratelimit-policy": '"default";q=2;w=10',
    "ratelimit": '"default";r=0;t=6',
  });
  assert.equal(limit("b"), undefined, "another caller");
  clock.time = 9_999;
  assert.equal(limit("a")?.["retry-after"], "1");
  clock.time = 10_000;
  assert.equal(limit("a"), undefined);
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
      const { clock, limit } = limiter(requests, seconds);
      const windows = new Map<string, number[]>();
      for (const { caller, pause } of steps) {
        clock.time += pause;
        const limited = limit(caller);
        let window = windows.get(caller) ?? [];
        const [start = -Infinity] = window;
        if (clock.time >= start + seconds * 1000) {
          window = [];
          windows.set(caller, window);
        }
        if (window.length < requests) {
          assert.equal(limited, undefined);
          window.push(clock.time);
        } else {
          const wait = Math.ceil(
            ((window[0] ?? 0) + seconds * 1000 - clock.time) / 1000,
          );
          assert.equal(limited?.["retry-after"], String(wait));
          assert.ok(wait >= 1 && wait <= seconds);
        }
      }
    },
  ));
});

test("a flood of callers takes no more than its bound, and lets the first of them begin anew", () => {
  const { limit } = limiter(1, 10, 4);
  assert.equal(limit("a"), undefined);
  assert.notEqual(limit("a"), undefined);
  for (const other of ["b", "c", "d"]) assert.equal(limit(other), undefined);
  assert.notEqual(limit("a"), undefined, "four are remembered");
  assert.equal(limit("e"), undefined);
  assert.equal(limit("a"), undefined, "the fifth drives out the first two");
  assert.notEqual(limit("e"), undefined);
});
