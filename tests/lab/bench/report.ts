/**
 * The figures of a run, as tables of Markdown.
 */

import { CASES, titleOf } from "./cases.ts";
import { formatTimes } from "./picture.ts";
import type { SettingSpeed } from "./speed.ts";

const COLUMNS = [
  ...["connections", "CPU µs", "requests/s", "p50 ms", "p99 ms", "ours/it"],
];

/** Prints all figures of a setting. */
export function printFigures(setting: SettingSpeed): void {
  const rows = setting.cells.flatMap((cell) =>
    Object.entries(cell.servers).map(([name, figures]) => [
      `${titleOf(cell.name)}: ${name}`,
      cell.rate === undefined
        ? `${cell.connections}`
        : `${cell.connections}, ${cell.rate}/s`,
      figures.cpu.toFixed(1),
      figures.perSecond.toFixed(0),
      figures.p50.toFixed(2),
      figures.p99.toFixed(2),
      cell.rate === undefined ? figures.times.toFixed(2) : "",
    ])
  );
  const others = Object.entries(setting.servers).map(
    ([name, { start, rest, peak }]) =>
      `${name}: starts in ${start.toFixed(0)} ms, takes ` +
      `${rest.toFixed(0)} MB at rest and ${peak.toFixed(0)} MB under load`,
  );
  console.log(`\n${setting.database}, ${setting.runtime}\n`);
  console.log(`${table(COLUMNS, rows)}\n\n${others.join("\n")}`);
}

/** How many times as fast as the peer ours is, with 1, 4, 16 and 64 connections. */
export function timesTable(all: readonly SettingSpeed[]): string {
  return table(
    CASES.map(({ title }) => title),
    all.map((one) => [
      `${one.database}, ${one.runtime}`,
      ...CASES.map(({ name }) =>
        [1, 4, 16, 64].map((n) => shownOrBold(timesOf(one, name, n))).join(", ")
      ),
    ]),
  );
}

/** How many times as fast as the peer ours is at its own pace; `NaN` if that was not measured. */
export function timesOf(
  { cells, peer }: SettingSpeed,
  name: string,
  connections: number,
): number {
  const cell = cells.find((cell) =>
    cell.name === name && cell.connections === connections &&
    cell.rate === undefined
  );
  return cell?.servers[peer]?.times ?? NaN;
}

/** Bold if the peer is ahead. */
function shownOrBold(times: number): string {
  const text = shown(times);
  return Number(text) < 1 ? `**${text}**` : text;
}

/** Two digits, `1.0` too; a dash if it was not measured. */
function shown(value: number): string {
  return Number.isNaN(value) ? "–" : formatTimes(value).slice(0, -1);
}

/** A table as `deno fmt` writes it; the first column has no title. */
export function table(
  titles: readonly string[],
  body: readonly (readonly string[])[],
): string {
  const rows = [["", ...titles], ...body];
  const widths =
    rows[0]?.map((_, column) =>
      Math.max(3, ...rows.map((row) => row[column]?.length ?? 0))
    ) ?? [];
  const lines = rows.map((row) =>
    row.map((cell, column) =>
      column === 0
        ? cell.padEnd(widths[column] ?? 0)
        : cell.padStart(widths[column] ?? 0)
    )
  );
  const rule = widths.map((width, column) =>
    column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`
  );
  return [lines[0] ?? [], rule, ...lines.slice(1)]
    .map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
