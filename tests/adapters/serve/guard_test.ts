import assert from "node:assert/strict";
import test from "node:test";
import { guard } from "../../../adapters/serve/guard.ts";

class Opaque extends Response {
  override get type(): never {
    throw new Error("secret");
  }
}

test("a guarded fetch function answers 500 and tells why, whatever it is given", async () => {
  const wrong: readonly (() => unknown)[] = [
    () => new Opaque(),
    () => Promise.resolve(new Opaque()),
    () => undefined,
    () => Promise.resolve({}),
    () => Response.error(),
    () => Promise.reject(new Error("secret")),
    () => {
      throw new Error("secret");
    },
  ];
  for (const handle of wrong) {
    const told: unknown[] = [];
    const fetch = guard(handle as () => Response, (error) => told.push(error));
    const response = await fetch(new Request("http://localhost/"));
    assert.equal(response.status, 500);
    assert.doesNotMatch(await response.text(), /secret/);
    assert.equal(told.length, 1);
    assert.ok(told[0] instanceof Error);
  }
});
