/**
 * What a run of the bench found, as `speed.json` keeps it: medians of all rounds.
 */

import { loadavg } from "node:os";
import { median, ratios } from "./figures.ts";
import type { Measured, MeasureOptions, Turn } from "./measure.ts";
import type { Contestant } from "./settings.ts";

/** A run. */
export interface Speed {
  /** `2026-11-26`. */
  readonly date: string;
  /** `2 cores (AMD EPYC)`. */
  readonly machine: string;
  /** How many programs wanted a core before the run. */
  readonly busy: number;
  readonly pets: number;
  readonly rounds: number;
  readonly seconds: number;
  /** `Deno 2.9.6`; also of PostgreSQL. */
  readonly versions: readonly string[];
  readonly settings: readonly SettingSpeed[];
}

/** A database and a runtime. */
export interface SettingSpeed {
  /** `SQLite`, `Deno`. */
  readonly database: string;
  readonly runtime: string;
  /** `Hono, node:sqlite`. */
  readonly peer: string;
  /** By contestant: milliseconds until its first page, and its memory at rest and at most, in MB. */
  readonly servers: Readonly<Record<string, ServerSpeed>>;
  readonly cells: readonly CellSpeed[];
}

/** What a server takes. */
export interface ServerSpeed {
  readonly start: number;
  readonly rest: number;
  readonly peak: number;
}

/** A kind of request under a load, by contestant. */
export interface CellSpeed {
  /** Of the case: `page20`. */
  readonly name: string;
  readonly connections: number;
  /** Requests a second, if the load is paced. */
  readonly rate?: number;
  readonly servers: Readonly<Record<string, Figures>>;
}

/** What a contestant did in a cell. */
export interface Figures {
  /** Processor time of a request, in µs. */
  readonly cpu: number;
  readonly perSecond: number;
  /** Latencies, in ms. */
  readonly p50: number;
  readonly p99: number;
  /**
   * How many times as fast ours is: by processor time on SQLite, which works in the server's process,
   * and otherwise by requests a second. The median of the rounds' ratios.
   */
  readonly times: number;
}

/** Puts the figures of a setting together. */
export function toSetting(measured: Measured): SettingSpeed {
  const { contestants, starts, rest, cells, peerName } = measured;
  const [first] = contestants;
  const turnsOf = (one: Contestant) =>
    cells.flatMap(({ turns }) => turns.get(one) ?? []);
  const servers = contestants.map((one) => {
    const peak = Math.max(...turnsOf(one).map(({ memory }) => memory));
    return [one.name, {
      start: round(median(starts.get(one) ?? []), 3),
      rest: round((rest.get(one) ?? NaN) / 1e6, 4),
      peak: round(peak / 1e6, 4),
    }] as const;
  });
  const speed = ({ cpu, requests, seconds }: Turn) =>
    measured.database === "sqlite" ? 1 / cpu : requests / seconds;
  return {
    database: nameOf(measured.databaseTitle),
    runtime: nameOf(measured.runtimeTitle),
    peer: peerName,
    servers: Object.fromEntries(servers),
    cells: cells.map(({ work, load, rate, turns }) => {
      const ours = first && turns.get(first) || [];
      const found = [...turns].filter(([, done]) => done.length > 0)
        .map(([one, done]) => {
          const middle = (read: (turn: Turn) => number, digits: number) =>
            round(median(done.map(read)), digits);
          const times = median(ratios(ours.map(speed), done.map(speed)));
          return [one.name, {
            cpu: middle(({ cpu }) => cpu, 3),
            perSecond: middle((turn) => turn.requests / turn.seconds, 3),
            p50: middle(({ p50 }) => p50, 3),
            p99: middle(({ p99 }) => p99, 3),
            times: round(times, 3),
          }] as const;
        });
      return {
        ...{ name: work.name, connections: load.connections },
        ...rate !== undefined && { rate },
        servers: Object.fromEntries(found),
      };
    }),
  };
}

/** Returns the load of the machine now. */
export function busyCores(): number {
  return round(loadavg()[0] ?? NaN, 2);
}

/** Puts a run together. */
export function toSpeed(
  all: readonly Measured[],
  { machine, busy, pets, rounds, seconds }:
    & Pick<Speed, "machine" | "busy">
    & Pick<MeasureOptions, "pets" | "rounds" | "seconds">,
): Speed {
  const titles = [
    ...all.map(({ runtimeTitle }) => runtimeTitle),
    ...all.map(({ databaseTitle }) => databaseTitle),
  ];
  return {
    date: new Date().toISOString().slice(0, 10),
    ...{ machine, busy, pets, rounds, seconds },
    versions: [...new Set(titles)].filter((title) => title.includes(" ")),
    settings: all.map(toSetting),
  };
}

/** The text of a run: JSON with a line for each cell. */
export function storedText(speed: Speed): string {
  const lines = (key: string, value: unknown) =>
    key === "cells" && Array.isArray(value)
      ? value.map((cell) => JSON.stringify(cell))
      : value;
  return JSON.stringify(speed, lines, 1)
    .replaceAll(/"\{.*\}"/g, (cell) => JSON.parse(cell)) + "\n";
}

/** A title without its version. */
function nameOf(title: string): string {
  return title.replace(/ .*/, "");
}

function round(value: number, digits: number): number {
  return Number(value.toPrecision(digits));
}
