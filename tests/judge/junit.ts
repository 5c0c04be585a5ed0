/** Writes a report as JUnit does, for CI servers. */

import { isNewFailure, type Report, type Verdict } from "./judge.ts";

/**
 * Writes a report as an XML document: a test for each clause. Those that fail as in the baseline are
 * skipped.
 */
export function toJUnit({ clauses, address }: Report): string {
  const failures = clauses.filter(isNewFailure).length;
  const held = clauses.filter(({ outcome }) => outcome === "holds").length;
  const skipped = clauses.length - failures - held;
  const counts =
    `tests="${clauses.length}" failures="${failures}" skipped="${skipped}"`;
  const tests = clauses.map((verdict) =>
    `    <testcase classname="${verdict.source}" name="${
      escapeXml(verdict.sentence)
    }">${inner(verdict)}</testcase>\n`
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites ${counts}>
  <testsuite name="${escapeXml(address)}" ${counts}>
${tests.join("")}  </testsuite>
</testsuites>
`;
}

function inner(verdict: Verdict): string {
  const { reason = "", because, says = "", exchange = "" } = verdict;
  if (verdict.outcome === "holds") return "";
  const message = `message="${escapeXml(because ?? reason)}"`;
  return isNewFailure(verdict)
    ? `<failure ${message}>${escapeXml(`${says}\n${exchange}`)}</failure>`
    : `<skipped ${message}/>`;
}

/**
 * Escapes what XML does not allow in text or attributes. Characters that XML cannot contain become
 * U+FFFD.
 */
function escapeXml(text: string): string {
  return text.toWellFormed()
    .replaceAll(
      /(?![\t\n\r])\p{Cc}|[\ufffe\uffff]/gu,
      "\ufffd",
    )
    .replaceAll(
      /[&<>"\n\r\t]/g,
      (character) => `&#${character.codePointAt(0)};`,
    );
}
