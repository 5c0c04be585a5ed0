/**
 * The figures of a run, as tables for the terminal.
 */

import { titleOf } from "./cases.ts";
import { formatTimes } from "./picture.ts";
import type { CellSpeed, SettingSpeed } from "./speed.ts";
import { SETTINGS } from "./settings.ts";

/** Prints all figures of a setting. */
export function printFigures(setting: SettingSpeed): void {
  const columns = "|connections|CPU µs|requests/s|p50 ms|p99 ms|ours/it";
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
  console.log(formatTable([columns.split("|"), ...rows]));
  console.log(others.join("\n"));
}

/** Prints how many times as fast ours is; `0.95× < 1.4` is a target that was missed. */
export function printTimes(all: readonly SettingSpeed[]): void {
  const cells = all.flatMap(({ cells }) => cells.filter(isClosed));
  const names = [...new Set(cells.map(({ name }) => name))];
  const loads = [...new Set(cells.map(({ connections }) => connections))];
  const rows = all.flatMap((setting) =>
    loads.map((connections) => [
      `${setting.database}, ${setting.runtime}, ${connections}`,
      ...names.map((name) => {
        const times = timesOf(setting, name, connections);
        const target = connections === 64 ? targetOf(setting, name) : 0;
        return formatTimes(times) + (times < target ? ` < ${target}` : "");
      }),
    ])
  );
  console.log("\nTimes as fast as the peer, by the number of connections\n");
  console.log(formatTable([["", ...names], ...rows]));
}

/** How many times as fast as the peer ours is at its own pace. */
export function timesOf(
  { cells, peer }: SettingSpeed,
  name: string,
  connections: number,
): number {
  const cell = cells.filter(isClosed).find((cell) =>
    cell.name === name && cell.connections === connections
  );
  return cell?.servers[peer]?.times ?? NaN;
}

function targetOf({ database, runtime }: SettingSpeed, name: string): number {
  const setting = SETTINGS.find((one) =>
    one.database === database.toLowerCase() &&
    one.runtime === runtime.toLowerCase()
  );
  return setting?.targets[name] ?? 0;
}

function isClosed({ rate }: CellSpeed): boolean {
  return rate === undefined;
}

/** Cells below each other; all but the first column to the right. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0))
  );
  return rows.map((row) =>
    row.map((cell, column) => {
      const width = widths?.[column] ?? 0;
      return column === 0 ? cell.padEnd(width) : cell.padStart(width);
    }).join("  ")
  ).join("\n");
}
