/**
 * `docs/speed.md`, its picture and the README's sentence, made from `speed.json`.
 */

import { readFileSync } from "node:fs";
import { pathOf, readText } from "../../support/repository.ts";
import { CASES, titleOf } from "./cases.ts";
import { drawPicture } from "./picture.ts";
import { table, timesOf, timesTable } from "./report.ts";
import type { Figures, SettingSpeed, Speed } from "./speed.ts";

const BEGIN = "<!-- Written by `deno task bench --write`: -->\n\n";
const END = "\n<!-- Until here. -->";
const SENTENCE = /^With 64 clients at once,[^]*?\n\n/m;
const LATENCIES = [
  "pages",
  "pages, fixed rate",
  "create",
  "create, fixed rate",
];
const SERVERS = ["start, ms", "at rest, MB", "under load, MB"];

/** Where the figures are stored. */
export const STORED: string = pathOf("tests/lab/bench/speed.json");

/** Reads the figures. */
export function readSpeed(): Speed {
  return JSON.parse(readFileSync(STORED, "utf8"));
}

/** Makes what the documents say about the figures, by file. */
export function render(speed: Speed): ReadonlyMap<string, string> {
  const old = readText("docs/speed.md");
  const [start, end] = [old.indexOf(BEGIN) + BEGIN.length, old.indexOf(END)];
  if (end < start) throw new Error("docs/speed.md has no place for figures");
  const front = readText("README.md");
  if (!SENTENCE.test(front)) throw new Error("README.md has no such sentence");
  const sentence = `${wrap(headline(speed.settings))}\n\n`;
  return new Map([
    [
      pathOf("docs/speed.md"),
      old.slice(0, start) + section(speed) + old.slice(end),
    ],
    [pathOf("docs/speed.svg"), picture(speed.settings)],
    [pathOf("README.md"), front.replace(SENTENCE, sentence)],
  ]);
}

function headline(all: readonly SettingSpeed[]): string {
  const onSqlite = all.filter(({ database }) => database === "SQLite");
  const range = (connections: number) => {
    const times = onSqlite.map((one) => timesOf(one, "create", connections))
      .filter((each) => !Number.isNaN(each)).toSorted((a, b) => a - b);
    const [least = NaN, most = NaN] = [times[0], times.at(-1)];
    return [least, most].map((each) =>
      plain(each, each < 5 || each > 10 ? 2 : 1)
    )
      .join(" to ");
  };
  return `With 64 clients at once, it adds [${range(64)} times as many ` +
    "pets](docs/speed.md) to SQLite for the same processor time as the same " +
    "service on Hono or Fastify, because creates that arrive together share a " +
    `transaction. With one client, it adds ${range(1)} times as many.`;
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
  }.${load} [All figures](../tests/lab/bench/speed.json)`;
  const titles = CASES.map(({ title }) => title);
  const rates = table(
    titles,
    databasesOf(settings).map((database) => [
      database,
      ...CASES.map(({ name }) =>
        settings.filter((one) => one.database === database).map((one) =>
          plain((figuresOf(one, name, 64)[0]?.perSecond ?? NaN) / 1000, 2)
        ).join(", ")
      ),
    ]),
  );
  const latencies = table(
    LATENCIES,
    settings.map((one) => [
      `${one.database}, ${one.runtime}`,
      ...["pages", "create"].flatMap((name) =>
        [false, true].map((isPaced) =>
          figuresOf(one, name, 64, isPaced).map(percentiles).join(", ")
        )
      ),
    ]),
  );
  const servers = table(
    SERVERS,
    settings.map((one) => {
      const { ours, [one.peer]: peer } = one.servers;
      return [
        `${one.database}, ${one.runtime}`,
        ...(["start", "rest", "peak"] as const).map((what) =>
          [ours, peer].map((each) => plain(each?.[what], 3)).join(", ")
        ),
      ];
    }),
  );
  const runtimes = new Set(settings.map(({ runtime }) => runtime));
  return [
    "Times as fast, with 1, 4, 16 and 64 connections, in bold if the peer is ahead:",
    timesTable(settings),
    `Thousands of requests a second, with 64 connections (${
      [...runtimes].join(", ")
    }):`,
    rates,
    wrap(
      "Latency of random pages and creates in ms with 64 connections, p50/p99, " +
        "and the peer's. At the fixed rate, half of what the peer can do, it " +
        "counts from when a request is due:",
    ),
    latencies,
    "Time from start to the first answer, memory at rest and under that load:",
    servers,
    wrap(conditions),
  ].map((part) => `${part}\n`).join("\n");
}

function databasesOf(all: readonly SettingSpeed[]): readonly string[] {
  return [...new Set(all.map(({ database }) => database))];
}

/** A number with this many digits, without trailing zeros; a dash if it was not measured. */
function plain(value: number = NaN, digits: number): string {
  return Number.isNaN(value) ? "–" : `${Number(value.toPrecision(digits))}`;
}

function percentiles({ p50, p99 }: Figures): string {
  return `${plain(p50, 2)}/${plain(p99, 2)}`;
}

/** The figures of ours and of its peer. */
function figuresOf(
  { cells, peer }: SettingSpeed,
  name: string,
  connections: number,
  isPaced = false,
): readonly Figures[] {
  const cell = cells.find((cell) =>
    cell.name === name && cell.connections === connections &&
    isPaced === (cell.rate !== undefined)
  );
  const { ours, [peer]: theirs } = cell?.servers ?? {};
  return ours && theirs ? [ours, theirs] : [];
}

function picture(all: readonly SettingSpeed[]): string {
  return drawPicture(
    [64, 1].flatMap((connections) =>
      databasesOf(all).map((database) => ({
        title: `${database}, ${connections} connection${
          connections > 1 ? "s" : ""
        }`,
        bars: all.filter((one) => one.database === database).flatMap((one) =>
          CASES.map(({ name }) => ({
            runtime: one.runtime,
            title: titleOf(name),
            times: timesOf(one, name, connections),
          })).filter(({ times }) => !Number.isNaN(times))
        ),
      }))
    ),
  );
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
