/** The judge, on stores whose choices have chance in them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CHANCES } from "./choices.ts";
import { judge } from "../../judge/judge.ts";
import { storeWith } from "./switchable_store.ts";

for (const [choice, change] of Object.entries(CHANCES)) {
  test(`the judge blames no store in 20 of which ${choice}`, async () => {
    for (let i = 0; i < 20; i++) {
      const report = await judge(storeWith([change]), {
        isInterfaceOnly: true,
      });
      const blamed = report.clauses.filter(({ outcome }) =>
        outcome === "fails"
      );
      assert.deepEqual(blamed, [], `seed ${report.seed}`);
    }
  });
}
