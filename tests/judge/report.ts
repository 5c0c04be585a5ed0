/** How a report of the judge is printed, and what JUnit's XML says of it. */

import { isNewFailure, type Report, type Verdict } from "./judge.ts";
import type { TestCase } from "./junit.ts";
import { LEAVES_UNREAD } from "./unread.ts";

const HEADINGS = {
  interface: "The interface",
  decision: "Decisions where the interface is silent",
  own: "Clauses of this copy of the project",
};

/** Prints each verdict, below the heading of its source. */
export function printer(): (verdict: Verdict) => void {
  let last = "";
  return ({ sentence, source, outcome, reason = "", says, ...more }) => {
    if (source !== last) console.log(`\n${HEADINGS[source]}:\n`);
    last = source;
    if (outcome === "holds") console.log(`holds: ${sentence}`);
    else if (outcome === "unchecked") {
      console.log(`cannot be checked from outside: ${sentence} (${reason})`);
    } else if (more.known) {
      console.log(
        `fails: ${sentence}\n    as in the baseline: ${
          more.because ?? reason
        }\n`,
      );
    } else if (more.because !== undefined && more.alone === undefined) {
      console.log(`fails: ${sentence}\n    because of: ${more.because}\n`);
    } else {
      const cited = says === undefined ? "" : `\nThe interface: ${says}`;
      const alone = more.alone === undefined
        ? ""
        : `\nWith a connection for each request: ${more.alone}`;
      const why = more.because === undefined
        ? `\n${more.exchange ?? ""}`
        : `\nbecause of: ${more.because}`;
      const shown = `${reason}${cited}${alone}${why}`.trimEnd();
      console.log(
        `fails: ${sentence}\n    ${shown.replaceAll("\n", "\n    ")}\n`,
      );
    }
  };
}

/** Prints how many clauses hold, and what to fix first. */
export function printSummary(report: Report): void {
  const { clauses, fixFirst, petsAdded, seed } = report;
  console.log("");
  for (const source of ["interface", "decision", "own"] as const) {
    const outcomes = clauses.filter((verdict) => verdict.source === source)
      .map(({ outcome }) => outcome);
    if (outcomes.length === 0) continue;
    const [holds, fails, unchecked] = (["holds", "fails", "unchecked"] as const)
      .map((one) => outcomes.filter((outcome) => outcome === one).length);
    console.log(
      `${
        HEADINGS[source]
      }: ${holds} hold, ${fails} fail, ${unchecked} cannot be checked from outside.`,
    );
  }
  const known = clauses.filter((verdict) => verdict.known).length;
  if (known > 0) console.log(`In the baseline: ${known} of those that fail.`);
  if (fixFirst === LEAVES_UNREAD) {
    const shown = `${report.unread}`.replaceAll("\n", "\n    ");
    console.log(
      `Fix first: ${fixFirst}. Before the next request on a connection, read the rest of the body, or close the connection (RFC 9112 §9.3):\n    ${shown}`,
    );
  } else if (fixFirst !== null) console.log(`Fix first: ${fixFirst}`);
  const added = petsAdded === 0
    ? "No create succeeded."
    : `At least ${petsAdded} pets were added.`;
  console.log(`${added} Seed: ${seed}`);
}

/** Returns a test case for each clause. Those that fail as in the baseline are skipped. */
export function toTestCases({ clauses }: Report): readonly TestCase[] {
  return clauses.map((verdict) => {
    const { sentence: name, source: className, outcome } = verdict;
    const { reason = "", because, says = "", exchange = "" } = verdict;
    const message = because ?? reason;
    if (outcome === "holds") return { className, name };
    return isNewFailure(verdict)
      ? { className, name, failure: { message, text: `${says}\n${exchange}` } }
      : { className, name, skipped: message };
  });
}
