import { fc } from "../../support/property.ts";
import assert from "node:assert/strict";
import test from "node:test";
import { createLimiter } from "../../../adapters/layers/rate_limit.ts";

/** A limiter with a clock that the test sets. */
function limiter(requests: number, seconds: number, maxCallers = 100) {
  const clock = { time: 0 };
  const options = { requests, seconds, maxCallers };
  const limit = createLimiter("key", options, () => clock.time);
  return { clock, limit };
}

/**
 * The law: a caller's window begins with a request that is let through and is `seconds` long; exactly
 * the first `requests` of it are let through. The fields tell what is left of it. The oracle keeps every
 * time there was.
 */
test("each window of a caller lets exactly its first requests through, and says so", () => {
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
        let window = windows.get(caller) ?? [];
        const [first = -Infinity] = window;
        if (clock.time >= first + seconds * 1000) {
          window = [];
          windows.set(caller, window);
        }
        const allowed = window.length < requests;
        if (allowed) window.push(clock.time);
        const end = (window[0] ?? 0) + seconds * 1000;
        const wait = Math.ceil((end - clock.time) / 1000);
        assert.deepEqual(limit(caller), {
          allowed,
          headers: {
            "ratelimit-policy": `"key";q=${requests};w=${seconds}`,
            "ratelimit": `"key";r=${requests - window.length};t=${wait}`,
            ...!allowed && { "retry-after": `${wait}` },
          },
        }, caller);
      }
    },
  ));
});

test("a flood of callers is remembered up to a bound, and the first begin anew", () => {
  const { limit } = limiter(1, 10, 6);
  const isAllowed = (caller: string) => limit(caller).allowed;
  assert.equal(isAllowed("a"), true);
  assert.equal(isAllowed("a"), false);
  for (const other of "bcdef") assert.equal(isAllowed(other), true, other);
  assert.equal(isAllowed("a"), false, "six are remembered");
  assert.equal(isAllowed("g"), true);
  assert.equal(isAllowed("a"), true, "the seventh drives out the first three");
  assert.equal(isAllowed("e"), false);
});

test("a window is never said to be longer than it is, at any fraction of a ms", () => {
  // Rounding makes `time + 1000 - time` a little more than 1000 for some of these.
  for (let time = 0.1; time < 100; time += 0.7) {
    const { clock, limit } = limiter(1, 1);
    clock.time = time;
    assert.match(limit("a").headers.ratelimit ?? "", /;t=1$/, `${time}`);
  }
});
