/** The judge, on stores whose choices have chance in them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CHANCES, storeOf } from "../../support/seeded/choices.ts";
import { judge } from "../../judge/judge.ts";
import { INTERFACE } from "../../judge/sets.ts";

for (const choice of Object.keys(CHANCES)) {
  test(`the judge blames no store in 20 of which ${choice}`, async () => {
    for (let i = 0; i < 20; i++) {
      const report = await judge(storeOf(choice), { sets: [INTERFACE] });
      const blamed = report.clauses.filter(({ outcome }) =>
        outcome === "fails"
      );
      assert.deepEqual(blamed, [], `seed ${report.seed}`);
    }
  });
}
