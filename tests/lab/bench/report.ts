/**
 * What the bench shows: figures as they are measured, and at the end how many times as fast ours is, for
 * `docs/speed.md`.
 */

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { fileURLToPath } from "node:url";
import type { Case } from "./cases.ts";
import { median, ratios } from "./figures.ts";
import type { Measured, MeasureOptions, Rounds, Turn } from "./measure.ts";
import { drawPicture, formatTimes } from "./picture.ts";
import type { Contestant } from "./settings.ts";

const DOCUMENT = new URL("../../../docs/speed.md", import.meta.url);
const PICTURE = new URL("../../../docs/speed.svg", import.meta.url);
const BEGIN = "<!-- Written by `deno task bench --write`: -->";
const END = "<!-- Until here. -->";

/** Prints all figures of a setting. */
export function printFigures(measured: Measured): void {
  const { databaseTitle, runtimeTitle, contestants, cases } = measured;
  const columns = "|CPU µs|requests/s|p50 ms|p99 ms|ours/it".split("|");
  const rows = [...cases].flatMap(([work, rounds]) =>
    contestants.map((one) => {
      const turns = rounds.get(one) ?? [];
      const figure = (read: (turn: Turn) => number, digits: number) =>
        median(turns.map(read)).toFixed(digits);
      return [
        `${work.title}: ${one.name}`,
        figure(({ cpu }) => cpu, 1),
        figure(({ requests, seconds }) => requests / seconds, 0),
        figure(({ p50 }) => p50, 2),
        figure(({ p99 }) => p99, 2),
        times(measured, rounds, one).toFixed(2),
      ];
    })
  );
  const others = contestants.map((one) =>
    `${one.name}: starts in ${startTime(measured, one)} ms, takes ${
      memory(measured, one).join(" MB at rest and ")
    } MB under load`
  );
  console.log(`\n${databaseTitle}, ${runtimeTitle}\n`);
  console.log(formatTable([columns, ...rows]));
  console.log(others.join("\n"));
}

/** Prints how many times as fast ours is; `0.95× < 1.4` is a target that was missed. */
export function printTimes(all: readonly Measured[]): void {
  const table = markdown(all, (one, { name }, rounds) => {
    const reached = times(one, rounds, one.peer);
    const { [name]: target = 0 } = one.targets;
    const missed = reached < target ? ` < ${target}` : "";
    return `${reached.toFixed(2)}×${missed}`;
  });
  console.log(`\nTimes as fast as the peer\n\n${table}`);
}

/** Writes the figures into `docs/speed.md`, and draws `docs/speed.svg`. All settings must be measured. */
export function writeReport(
  all: readonly Measured[],
  { pets, rounds, seconds }: MeasureOptions,
): void {
  /** What ours takes on each runtime, beside what its peer takes. */
  const onSqlite = (
    read: (measured: Measured, one: Contestant) => string,
    unit: string,
  ) =>
    all.filter(({ database }) => database === "sqlite").map((one) => {
      const [ours, peer] = [one.contestants[0], one.peer]
        .map((each) => each && read(one, each));
      const runtime = nameOf(one.runtimeTitle);
      return `${runtime} ${ours} ${unit} (${one.peer.name}: ${peer})`;
    }).join("; ");
  const date = new Date().toLocaleDateString("en-GB", { dateStyle: "long" });
  const versions = new Set(
    [
      ...all.map(({ runtimeTitle }) => runtimeTitle),
      ...all.map(({ databaseTitle }) => databaseTitle),
    ].filter((title) => title.includes(" ")),
  );
  const machine = `${availableParallelism()} cores (${
    cpus()[0]?.model.trim()
  })`;
  const table = markdown(
    all,
    (one, _work, rounds) => formatTimes(times(one, rounds, one.peer)),
  );
  const text = `${table}
Requests per second that our server answered:

${ratesTable(all)}
From start to the first answer, on SQLite: ${onSqlite(startTime, "ms")}.
Memory at rest and after the load above, on SQLite: ${
    onSqlite((...of) => memory(...of).join(" and "), "MB")
  }.

Measured on ${date} with \`deno task bench --write\`: ${
    pets.toLocaleString("en")
  } pets, 64
connections, medians of ${rounds} rounds of ${seconds} s. One machine with ${machine} ran the server, the
database and the load: ${[...versions].join(", ")}.`;

  const document = readFileSync(DOCUMENT, "utf8");
  const [start, end] = [document.indexOf(BEGIN), document.indexOf(END)];
  if (start < 0 || end < start) {
    throw new Error(`${DOCUMENT} has no place for it`);
  }
  const before = document.slice(0, start + BEGIN.length);
  writeFileSync(DOCUMENT, `${before}\n\n${text}\n\n${document.slice(end)}`);
  execFileSync("deno", ["fmt", "--quiet", fileURLToPath(DOCUMENT)]);
  const panels = [...new Set(all.map((one) => nameOf(one.databaseTitle)))];
  writeFileSync(
    PICTURE,
    drawPicture(panels.map((title) => ({
      title,
      bars: all.filter((one) => nameOf(one.databaseTitle) === title)
        .flatMap((one) => bars(one)),
    }))),
  );
}

function bars(measured: Measured) {
  const { runtimeTitle, peer } = measured;
  const runtime = nameOf(runtimeTitle);
  return [...measured.cases].map(([{ title }, rounds]) => ({
    ...{ runtime, title, times: times(measured, rounds, peer) },
  }));
}

/** How many times as fast the first contestant is as another one: the median of the rounds' ratios. */
function times(
  { database, contestants: [ours] }: Measured,
  rounds: Rounds<Turn>,
  other: Contestant,
): number {
  /** SQLite works in the server's process, whose time decides; PostgreSQL has its own. */
  const speed = ({ cpu, requests, seconds }: Turn) =>
    database === "sqlite" ? 1 / cpu : requests / seconds;
  const [over, under] = [ours, other].map((one) =>
    (one && rounds.get(one) || []).map(speed)
  );
  return median(ratios(over ?? [], under ?? []));
}

/** A title without its version. */
function nameOf(title: string): string {
  return title.replace(/ .*/, "");
}

function startTime({ starts }: Measured, one: Contestant): string {
  return median(starts.get(one) ?? []).toFixed(0);
}

/** The resident memory of a contestant before the load, and the most after a turn, in MB. */
function memory(
  { rest, cases }: Measured,
  one: Contestant,
): readonly string[] {
  const turns = [...cases.values()].flatMap((rounds) => rounds.get(one) ?? []);
  const most = Math.max(...turns.map(({ memory }) => memory));
  return [rest.get(one) ?? NaN, most].map((bytes) => (bytes / 1e6).toFixed(0));
}

function ratesTable(all: readonly Measured[]): string {
  return markdown(all, ({ contestants: [ours] }, _work, rounds) => {
    const turns = ours && rounds.get(ours) || [];
    const rate = median(
      turns.map(({ requests, seconds }) => requests / seconds),
    );
    return Number(rate.toPrecision(2)).toLocaleString("en");
  });
}

/** A table with a row for each setting, and a column for each case. */
function markdown(
  all: readonly Measured[],
  cell: (measured: Measured, work: Case, rounds: Rounds<Turn>) => string,
): string {
  const titles = [...all[0]?.cases.keys() ?? []].map(({ title }) => title);
  const rows = all.map((one) => [
    `${nameOf(one.databaseTitle)}, ${nameOf(one.runtimeTitle)}`,
    ...[...one.cases].map(([work, rounds]) => cell(one, work, rounds)),
  ]);
  const rule = ["---", ...titles.map(() => "---:")];
  return [["", ...titles], rule, ...rows]
    .map((cells) => `| ${cells.join(" | ")} |\n`).join("");
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
