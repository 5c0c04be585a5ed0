/**
 * A table of figures: what every part of the bench answers with, and how it is printed.
 *
 * @module
 */

/** A table of figures, as it is printed and as `--json` has it. */
export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
  /** How to read it, in a sentence or two. */
  readonly notes?: readonly string[];
  /** What the figures were made of. It is not printed: only `--json` has it. */
  readonly raw?: unknown;
}

/** The middle of some numbers, or the mean of the two in the middle; `NaN` of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? NaN;
  return (lower + upper) / 2;
}

/** Prints a table to standard output: columns aligned, numbers to the right. */
export function printTable({ title, columns, rows, notes = [] }: Table): void {
  const texts = columns.map((name, index) => [
    name,
    ...columnTexts(rows.map((row) => row[index] ?? "")),
  ]);
  const widths = texts.map((column) =>
    Math.max(...column.map((text) => text.length))
  );
  const isNumeric = columns.map((_, index) =>
    rows.some((row) => typeof row[index] === "number")
  );
  const line = (row: number): string =>
    texts.map((column, index) => {
      const [text = "", width = 0] = [column[row], widths[index]];
      return isNumeric[index] ? text.padStart(width) : text.padEnd(width);
    }).join("  ").trimEnd();

  console.log(`\n${title}\n`);
  console.log(line(0));
  console.log(widths.map((width) => "-".repeat(width)).join("  "));
  rows.forEach((_, index) => console.log(line(index + 1)));
  if (notes.length > 0) console.log(`\n${notes.join("\n")}`);
}

/** Numbers of one column have the same number of decimals, so that their points stand in a line. */
function columnTexts(values: readonly (string | number)[]): string[] {
  const numbers = values.filter((value) => typeof value === "number");
  const decimals = Math.max(0, ...numbers.map(countDecimals));
  return values.map((value) =>
    typeof value === "string" ? value : value.toFixed(decimals)
  );
}

function countDecimals(value: number): number {
  return /\.(\d+)$/.exec(String(value))?.[1]?.length ?? 0;
}
