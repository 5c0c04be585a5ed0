import assert from "node:assert/strict";
import test from "node:test";
import { WaitingFaults } from "../../../adapters/sandbox/waiting_faults.ts";

const get = {
  method: "GET",
  path: "/v1/pets",
  query: "",
  headers: new Headers(),
  key: "k",
  getPet: true,
};

test("a fault waits for as many requests as it says", () => {
  const faults = new WaitingFaults(() => 0);
  faults.add([{ delay: 1, times: 2 }, { lose: true }]);
  const taken = [1, 2, 3, 4].map(() => faults.take(get));
  const kinds = taken.map((fault) => fault && ("lose" in fault || "delayed"));
  assert.deepEqual(kinds, ["delayed", "delayed", true, undefined]);
  assert.equal(faults.length, 0);
});

test("faults of all worlds together are limited, and those that go make room", () => {
  const all: readonly WaitingFaults[] = Array.from(
    { length: 6 },
    () =>
      new WaitingFaults(() => all.reduce((sum, { length }) => sum + length, 0)),
  );
  const long = { answer: { status: 503, body: "x".repeat(15 * 1024 * 1024) } };
  const [last, ...others] = all;
  for (const faults of others.slice(0, 4)) faults.add(long);
  assert.throws(() => last?.add(long), {
    name: "TypeError",
    message:
      /^Cannot add faults: those of all worlds may have 67108864 characters/,
  });
  last?.add({ lose: true });
  others[0]?.clear();
  last?.add(long);
  assert.equal(last?.list().length, 2);
});
