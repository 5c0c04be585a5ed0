/**
 * Examines seeded clients in process. As a program it examines all right ones, and prints the harms
 * that the exam finds in them, as JSON. Its argument N gives each client one of N trials.
 */

import process from "node:process";
import type { Ended } from "../../exam/command.ts";
import { examine, limitsOf, NotReady, type Result } from "../../exam/exam.ts";
import { toAdvice } from "../../exam/report.ts";
import { type Trial, TRIALS } from "../../exam/trial.ts";
import { CLIENT_TIMEOUT } from "../../exam/world.ts";
import { type Habits, perform, petJson } from "./exam_client.ts";
import { RIGHT } from "./exam_clients.ts";

/** How many clients are examined at once, and how many trials of each: they wait, for the most part. */
const [CLIENTS, JOBS] = [5, 10];

/** Examines a client that is told to wait, and ended if nothing happens, after so many ms. */
export function examineHabits(
  habits: Habits,
  trials: readonly Trial[],
  { clientTimeout = CLIENT_TIMEOUT, silence = 20_000 }: {
    readonly clientTimeout?: number;
    readonly silence?: number;
  } = {},
): Promise<readonly Result[]> {
  return examine({
    async run(environment, signal): Promise<Ended> {
      const { exit, stdout } = await perform(environment, habits, signal);
      return { code: exit, output: stdout };
    },
    trials,
    clientTimeout,
    limits: limitsOf(silence),
    jobs: JOBS,
  });
}

/**
 * Returns the harm that the exam finds in right clients, which should be none. Each has one of
 * `share` trials, and its neighbours have the others. On a loaded machine some trials are skipped.
 */
export async function blamedInRight(
  names: readonly string[],
  trials: readonly Trial[],
  { share, clientTimeout = CLIENT_TIMEOUT }: {
    readonly share: number;
    readonly clientTimeout?: number;
  },
): Promise<readonly string[]> {
  const blamed: string[] = [];
  const next = names.entries();
  await Promise.all(Array.from({ length: CLIENTS }, async () => {
    for (const [i, name] of next) {
      const some = trials.filter((_, n) => n % share === i % share);
      try {
        const results = await examineHabits(RIGHT[name] ?? {}, some, {
          clientTimeout,
        });
        const harms = results.filter(({ verdict }) => verdict === "harm");
        blamed.push(...harms.map((result) => describe(name, result)));
      } catch (cause) {
        if (!(cause instanceof NotReady)) throw cause;
        blamed.push(`${name}: ${toAdvice(cause.result)}`);
      }
    }
  }));
  return blamed;
}

function describe(
  name: string,
  { trial, findings, requests, claims }: Result,
): string {
  return [
    `${name}: ${trial.title}`,
    ...findings.map((finding) => JSON.stringify(finding)),
    ...requests.map(({ method, target, status }) =>
      `${method} ${target} ${status}`
    ),
    ...claims.map((claim) =>
      claim.kind === "pets"
        ? claim.pets.slice(0, 3).map(petJson).join()
        : JSON.stringify(claim)
    ),
  ].join("\n  ");
}

if (import.meta.main) {
  const share = Number(process.argv[2] ?? 1);
  const settings = { share, clientTimeout: 3 * CLIENT_TIMEOUT };
  const blamed = await blamedInRight(Object.keys(RIGHT), TRIALS, settings);
  console.log(JSON.stringify(blamed));
}
