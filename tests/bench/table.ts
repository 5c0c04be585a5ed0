/**
 * A table of figures: what every part of the bench comes to, and how it is printed.
 *
 * @module
 */

/** A table of figures, as it is printed and as `--json` has it. */
export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
  /** How to read it, in a sentence or two. */
  readonly note?: string;
  /** What the figures were made of; for `--json` alone. */
  readonly raw?: unknown;
}

/** The middle of some numbers, or the mean of the two in the middle; `NaN` of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? NaN;
  return (lower + upper) / 2;
}

/** The median with so many decimals. */
export function middle(values: readonly number[], decimals = 2): string {
  return values.length === 0 ? "" : median(values).toFixed(decimals);
}

/** The least and the most: `0.71..0.78`. */
export function spread(values: readonly number[], decimals = 2): string {
  if (values.length === 0) return "";
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return `${least.toFixed(decimals)}..${most.toFixed(decimals)}`;
}

/** One figure over another in each round: then the machine was the same for both. */
export function ratios(
  over: readonly number[],
  under: readonly number[],
): number[] {
  return over.map((figure, round) => figure / (under[round] ?? NaN))
    .filter(Number.isFinite);
}

/** The median of some ratios, and what it should have been at least, when it is less. */
export function judged(values: readonly number[], target?: number): string {
  const figure = middle(values);
  const isMissed = target !== undefined && Number(figure) < target;
  return isMissed && figure !== "" ? `${figure} < ${target}` : figure;
}

/** Prints a table to standard output: the first column to the left, the others to the right. */
export function printTable({ title, columns, rows, note }: Table): void {
  const lines = [columns, ...rows].map((row) => row.map(String));
  const widths = columns.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0))
  );
  const [head, ...body] = lines.map((line) =>
    line.map((text, column) => {
      const width = widths[column] ?? 0;
      return column === 0 ? text.padEnd(width) : text.padStart(width);
    }).join("  ")
  );
  const rule = widths.map((width) => "-".repeat(width)).join("  ");
  console.log(["", title, "", head, rule, ...body].join("\n"));
  if (note !== undefined) console.log(`\n${note}`);
}
