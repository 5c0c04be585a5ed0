/**
 * Figures, and tables of them: what every part of the bench comes to.
 */

/** A table of figures, as it is printed and as `--json` has it. */
export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly raw?: unknown; // of every round, for `--json` alone
}

/**
 * Measures by turns, as the speed of a machine wanders: all have a turn in each round, and another one
 * begins each time. Resolves to the figures of each, round by round.
 */
export async function inTurns<Figure>(
  turns: ReadonlyMap<string, () => Promise<Figure>>,
  { rounds, warmUp = 0 }: { readonly rounds: number; readonly warmUp?: number },
): Promise<(name: string) => readonly Figure[]> {
  const names = [...turns.keys()];
  const figures = new Map(names.map((name) => [name, [] as Figure[]]));
  for (let round = 0; round < warmUp + rounds; round++) {
    const first = round % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      const figure = await turns.get(name)?.();
      if (round >= warmUp && figure !== undefined) {
        figures.get(name)?.push(figure);
      }
    }
  }
  return (name) => figures.get(name) ?? [];
}

/** One figure over another in each round: then the machine was the same for both. */
export function ratios(
  over: readonly number[],
  under: readonly number[],
): number[] {
  return over.map((figure, round) => figure / (under[round] ?? NaN))
    .filter(Number.isFinite);
}

/** The median of some figures as text. */
export function median(values: readonly number[], decimals = 2): string {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? NaN;
  return values.length === 0 ? "" : ((lower + upper) / 2).toFixed(decimals);
}

/** The median of some ratios, with the target when it is below that. */
export function judged(values: readonly number[], target = 0): string {
  const figure = median(values);
  return Number(figure || NaN) < target ? `${figure} < ${target}` : figure;
}

/** The least and the most: `0.71..0.78`. */
export function spread(values: readonly number[], decimals = 2): string {
  if (values.length === 0) return "";
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return `${least.toFixed(decimals)}..${most.toFixed(decimals)}`;
}

/** Prints a table to standard output. */
export function printTable({ title, columns, rows }: Table): void {
  const widths = columns.map((name, column) =>
    Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0))
  );
  const line = (cells: readonly string[]): string =>
    cells.map((cell, column) =>
      column === 0
        ? cell.padEnd(widths[0] ?? 0)
        : cell.padStart(widths[column] ?? 0)
    ).join("  ");
  const rule = widths.map((width) => "-".repeat(width));
  const lines = [columns, rule, ...rows].map(line);
  console.log(["", title, "", ...lines].join("\n"));
}
