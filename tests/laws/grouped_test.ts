/** The law of reads in groups, for any order in which they arrive, are sent and are answered. */
import assert from "node:assert/strict";
import test from "node:test";
import { grouped } from "../../adapters/storage/grouped.ts";
import { fc } from "../support/property.ts";
import { turns } from "../support/time.ts";

const event = fc.oneof(
  { weight: 4, arbitrary: fc.record({ arrives: fc.nat({ max: 3 }) }) },
  fc.constant("acknowledge" as const),
  fc.constant("turn" as const),
  fc.record({ answered: fc.nat({ max: 20 }) }),
);

// Decision 002: a statement sees what was committed before it was sent.
test("no read is answered by a statement that was sent before the read came", async () => {
  const history = fc.array(event, { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(
      history,
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 4 }),
      async (events, maxGroup, maxUnderWay) => {
        let acknowledged = 0;
        const underWay: (() => void)[] = [];
        const reads: Promise<void>[] = [];
        const { run } = grouped({
          action: "read",
          send: (group: readonly number[]) => {
            const seen = acknowledged;
            return new Promise<readonly number[]>((resolve) => {
              underWay.push(() => resolve(group.map(() => seen)));
            });
          },
          maxGroup,
          maxUnderWay,
        });
        const answer = (which: number) =>
          underWay.splice(which % underWay.length, 1)[0]?.();

        for (const event of events) {
          if (event === "acknowledge") acknowledged++;
          else if (event === "turn") await turns(1);
          else if ("answered" in event) answer(event.answered);
          else {
            const before = acknowledged;
            const read = run(event.arrives).then((seen) => {
              assert.ok(seen >= before, `${seen} of ${before} are seen`);
            });
            read.catch(() => {}); // it is reported below
            reads.push(read);
          }
        }
        let isOver = false;
        void Promise.allSettled(reads).then(() => isOver = true);
        while (!isOver) {
          answer(0);
          await turns(1);
        }
        await Promise.all(reads);
      },
    ),
  );
});
