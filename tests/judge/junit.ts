/** Writes the results of the judge and of the exam as JUnit does, for CI servers. */

/** A result: it passed if it has neither `failure` nor `skipped`. */
export interface TestCase {
  /** The group of the result. */
  readonly className: string;
  readonly name: string;
  /** Why it failed. */
  readonly failure?: {
    readonly message: string;
    /** More lines about it. Default: none. */
    readonly text?: string;
  };
  /** Why it does not count. */
  readonly skipped?: string;
}

/** Writes results as an XML document with one test suite. */
export function toJUnit(suite: string, cases: readonly TestCase[]): string {
  const failures = cases.filter(({ failure }) => failure).length;
  const skipped = cases.filter(isSkipped).length;
  const counts =
    `tests="${cases.length}" failures="${failures}" skipped="${skipped}"`;
  const tests = cases.map((one) =>
    `    <testcase classname="${escapeXml(one.className)}" name="${
      escapeXml(one.name)
    }">${inner(one)}</testcase>\n`
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites ${counts}>
  <testsuite name="${escapeXml(suite)}" ${counts}>
${tests.join("")}  </testsuite>
</testsuites>
`;
}

function isSkipped({ failure, skipped }: TestCase): boolean {
  return failure === undefined && skipped !== undefined;
}

function inner({ failure, skipped }: TestCase): string {
  if (failure !== undefined) {
    const { message, text = "" } = failure;
    return `<failure message="${escapeXml(message)}">${
      escapeXml(text)
    }</failure>`;
  }
  if (skipped === undefined) return "";
  return `<skipped message="${escapeXml(skipped)}"/>`;
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
