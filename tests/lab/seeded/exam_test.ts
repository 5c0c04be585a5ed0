/** The exam finds no harm in right clients, and in wrong ones each harm that a trial can show. */
import assert from "node:assert/strict";
import test from "node:test";
import { NotReady } from "../../exam/exam.ts";
import { HARMS, type Trial, TRIALS } from "../../exam/trial.ts";
import { RUNTIME } from "../../support/runtime.ts";
import { BROKEN, RIGHT, SLOW, WRONG } from "./exam_clients.ts";
import { blamedInRight, examineHabits } from "./examining.ts";

/** Hanging clients are ended soon. */
const HASTE = { silence: 2500 };
const isSlow = ({ faults }: Trial): boolean =>
  /"(?:retry-after|drip|delay|stall)"/.test(JSON.stringify(faults));
/** Trials in which no client has to wait, so that a busy machine does no harm. */
const QUICK = TRIALS.filter((trial) => !isSlow(trial));
const PATIENCE = { clientTimeout: 10_000 };

test(`the exam finds no harm in right clients, on ${RUNTIME}`, async () => {
  assert.ok(Object.keys(RIGHT).length >= 30);
  assert.ok(QUICK.length >= 40);
  const names = Object.keys(RIGHT).filter((name) => !SLOW.includes(name));
  const settings = { ...PATIENCE, share: 4 };
  assert.deepEqual(await blamedInRight(names, QUICK, settings), []);
});

for (const harm of HARMS) {
  test(`the exam finds ${harm} in each trial that can show it, on ${RUNTIME}`, async () => {
    const trials = TRIALS.filter(({ harms }) => harms.includes(harm));
    const clients = Object.entries(WRONG[harm] ?? {});
    assert.ok(trials.length > 0 && clients.length > 0);
    const seen = new Set<Trial>();
    await Promise.all(clients.map(async ([name, habits]) => {
      const results = [
        ...await examineHabits(
          habits,
          trials.filter((one) => QUICK.includes(one)),
          {
            ...HASTE,
            ...PATIENCE,
          },
        ),
        ...await examineHabits(habits, trials.filter(isSlow), HASTE),
      ];
      const shown = results.filter(({ findings }) =>
        findings.some((finding) => finding.name === harm && finding.isHarm)
      );
      assert.ok(shown.length > 0, `${name} is not caught`);
      for (const { trial } of shown) seen.add(trial);
    }));
    const missed = trials.filter((trial) => !seen.has(trial));
    assert.deepEqual(missed.map(({ title }) => title), []);
  });
}

for (const [name, habits] of Object.entries(BROKEN)) {
  test(`the exam refuses a client that ${name}, on ${RUNTIME}`, async () => {
    await assert.rejects(examineHabits(habits, TRIALS, HASTE), NotReady);
  });
}
