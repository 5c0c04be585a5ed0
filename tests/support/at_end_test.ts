import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { atEnd } from "./at_end.ts";

test("atEnd closes the last first, all of them, and fails if one fails", async () => {
  const closed: string[] = [];
  const ends: (() => Promise<void>)[] = [];
  const after = (end: () => Promise<void>) => void ends.push(end);
  const t = { after } as unknown as TestContext;
  atEnd(t, () => closed.push("first"));
  atEnd(t, () => Promise.reject(new Error("the second fails")));
  atEnd(t, () => {
    throw new Error("the third fails");
  });
  atEnd(t, () => closed.push("last"));
  const [end] = ends;
  assert.ok(end !== undefined && ends.length === 1);
  await assert.rejects(end(), /the third fails/);
  assert.deepEqual(closed, ["last", "first"]);
});
