/** Writes a report as JUnit does, for CI servers. */

import type { Report, Verdict } from "./judge.ts";

/** Writes a report as an XML document: a test for each clause. */
export function toJUnit({ clauses, address }: Report): string {
  const count = (which: Verdict["outcome"]) =>
    clauses.filter(({ outcome }) => outcome === which).length;
  const counts = `tests="${clauses.length}" failures="${
    count("fails")
  }" skipped="${count("unchecked")}"`;
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

function inner(
  { outcome, reason = "", because, says = "", exchange = "" }: Verdict,
): string {
  if (outcome === "holds") return "";
  const message = `message="${escapeXml(because ?? reason)}"`;
  return outcome === "unchecked"
    ? `<skipped ${message}/>`
    : `<failure ${message}>${escapeXml(`${says}\n${exchange}`)}</failure>`;
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
