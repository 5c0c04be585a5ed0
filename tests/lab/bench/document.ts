/**
 * `docs/speed.md`, its picture and the README's sentence, made from `docs/speed.json`.
 */

import { readFileSync } from "node:fs";
import { CASES, titleOf } from "./cases.ts";
import { drawPicture, formatTimes } from "./picture.ts";
import { timesOf } from "./report.ts";
import type { SettingSpeed, Speed } from "./speed.ts";

const ROOT = new URL("../../../", import.meta.url);
const BEGIN = "<!-- Written by `deno task bench --write`: -->\n\n";
const END = "\n<!-- Until here. -->";
const SENTENCE = /^If 64 clients create pets at once,[^]*?\.$/m;
const CONNECTIONS = [1, 4, 16, 64];

/** Where the figures are kept. */
export const STORED: URL = new URL("docs/speed.json", ROOT);

/** Reads the figures. */
export function readSpeed(): Speed {
  return JSON.parse(readFileSync(STORED, "utf8"));
}

/** Makes what the documents say of the figures, by file. */
export function render(speed: Speed): ReadonlyMap<URL, string> {
  const document = new URL("docs/speed.md", ROOT);
  const readme = new URL("README.md", ROOT);
  const old = readFileSync(document, "utf8");
  const [start, end] = [old.indexOf(BEGIN) + BEGIN.length, old.indexOf(END)];
  if (end < start) throw new Error("docs/speed.md has no place for figures");
  const sentence = wrap(headline(speed.settings));
  return new Map([
    [document, old.slice(0, start) + section(speed) + old.slice(end)],
    [new URL("docs/speed.svg", ROOT), picture(speed.settings)],
    [readme, readFileSync(readme, "utf8").replace(SENTENCE, sentence)],
  ]);
}

function headline(all: readonly SettingSpeed[]): string {
  const onSqlite = all.filter(({ database }) => database === "SQLite");
  const range = (connections: number) => {
    const times = onSqlite.map((one) => timesOf(one, "create", connections))
      .toSorted((a, b) => a - b);
    const [least = NaN, most = NaN] = [times[0], times.at(-1)];
    return [least, most].map((each) => Number(each.toPrecision(2))).join(
      " to ",
    );
  };
  return "If 64 clients create pets at once, SQLite takes " +
    `[${range(64)} times as many](docs/speed.md) for the same processor time ` +
    "as from the same service on Hono or Fastify, because creates that arrive " +
    `together share a transaction; from one client, ${range(1)} times.`;
}

function section(speed: Speed): string {
  const { settings, pets, rounds, seconds, machine, busy, versions } = speed;
  const date = new Date(speed.date)
    .toLocaleDateString("en-GB", { dateStyle: "long", timeZone: "UTC" });
  const load = busy < 1
    ? ""
    : ` It was busy with other work: its load average was ${busy} before.`;
  const conditions = `Measured on ${date} with \`deno task bench --write\`: ${
    pets.toLocaleString("en")
  } pets, medians of ${rounds} rounds of ${seconds} s. One machine with ${machine} ran the server, the database and the load: ${
    versions.join(", ")
  }.${load} [All figures](speed.json)`;
  return [
    "Times as fast, with 1, 4, 16 and 64 connections:",
    table(
      CASES.map(({ title }) => title),
      settings,
      (one) =>
        CASES.map(({ name }) =>
          CONNECTIONS.map((n) =>
            formatTimes(timesOf(one, name, n)).slice(0, -1)
          )
            .join(", ")
        ),
    ),
    "Thousands of requests a second that ours answers, with 64 connections:",
    table(
      CASES.map(({ title }) => title),
      settings,
      (one) =>
        CASES.map(({ name }) => {
          const { perSecond = NaN } = figuresOf(one, name, 64)?.[0] ?? {};
          return `${Number((perSecond / 1000).toPrecision(2))}`;
        }),
    ),
    ...["pages", "create"].flatMap((name) => [
      `Latency of ${
        name === "create" ? "a create" : "random pages"
      } in ms, p50/p99, and the peer's; the last column is at a fixed rate, half of what the peer can do, from when a request was due:`,
      table(["1 connection", "16", "64", "64, fixed rate"], settings, (one) =>
        [
          figuresOf(one, name, 1),
          figuresOf(one, name, 16),
          figuresOf(one, name, 64),
          figuresOf(one, name, 64, true),
        ].map((pair) =>
          (pair ?? []).map(({ p50, p99 }) => `${p50}/${p99}`).join(", ")
        )),
    ]),
    "The package, and the peer: from start to the first answer, and memory:",
    table(["start, ms", "at rest, MB", "at most, MB"], settings, (one) => {
      const { ours, [one.peer]: peer } = one.servers;
      return (["start", "rest", "peak"] as const).map((what) =>
        [ours, peer].map((each) => each?.[what].toFixed(0)).join(", ")
      );
    }),
    wrap(conditions),
  ].map((part) => `${part}\n`).join("\n");
}

/** The figures of ours and of its peer. */
function figuresOf(
  { cells, peer }: SettingSpeed,
  name: string,
  connections: number,
  isPaced = false,
) {
  const cell = cells.find((cell) =>
    cell.name === name && cell.connections === connections &&
    isPaced === (cell.rate !== undefined)
  );
  const { ours, [peer]: theirs } = cell?.servers ?? {};
  return ours && theirs && [ours, theirs];
}

function picture(all: readonly SettingSpeed[]): string {
  const databases = [...new Set(all.map(({ database }) => database))];
  return drawPicture(
    [64, 1].flatMap((connections) =>
      databases.map((database) => ({
        title: `${database}, ${connections} connection${
          connections > 1 ? "s" : ""
        }`,
        bars: all.filter((one) => one.database === database).flatMap((one) =>
          CASES.map(({ name }) => ({
            runtime: one.runtime,
            title: titleOf(name),
            times: timesOf(one, name, connections),
          }))
        ),
      }))
    ),
  );
}

/** A table with a row for each setting, as `deno fmt` writes it. */
function table(
  titles: readonly string[],
  settings: readonly SettingSpeed[],
  cells: (setting: SettingSpeed) => readonly string[],
): string {
  const rows = [
    ["", ...titles],
    ...settings.map((
      one,
    ) => [`${one.database}, ${one.runtime}`, ...cells(one)]),
  ];
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

/** Lines of at most 80 characters. */
function wrap(text: string): string {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = `${lines.at(-1)} ${word}`.trimStart();
    if (line.length <= 80) lines[lines.length - 1] = line;
    else lines.push(word);
  }
  return lines.join("\n");
}
