/** The judge, on stores with each choice, and with each mistake beside each choice. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { INTERFACE_CLAUSES } from "../../contract/interface_contract.ts";
import { judge, judgeClause } from "../../judge/judge.ts";
import {
  CHANCES,
  CHOICES,
  HIDDEN,
  storeOf,
} from "../../support/seeded/choices.ts";
import { CLAUSES } from "../../support/seeded/mistakes.ts";
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

test("the judge blames no choice that a store makes", async () => {
  const choices = Object.keys({ ...CHOICES, ...CHANCES });
  for (const choice of choices) {
    assert.deepEqual(await failing(choice), [], choice);
  }
  assert.ok(choices.length >= 60);
});

test("the judge blames each mistake by its clause, whatever choice the store makes", async () => {
  for (const [mistake, sentence] of Object.entries(CLAUSES)) {
    const clause = INTERFACE_CLAUSES[sentence] ?? assert.fail(sentence);
    for (const choice of Object.keys(CHOICES)) {
      const { outcome } = await judgeClause(clause, storeOf(choice, mistake));
      const isHidden = HIDDEN[choice]?.test(mistake) ?? false;
      assert.equal(outcome !== "fails", isHidden, `${mistake}, ${choice}`);
    }
  }
});

/** The clauses of the interface that fail on a store with this choice. */
async function failing(choice: string): Promise<string[]> {
  const { clauses } = await judge(storeOf(choice), { sets: [INTERFACE] });
  return clauses.filter(({ outcome }) => outcome === "fails")
    .map(({ sentence }) => sentence);
}
