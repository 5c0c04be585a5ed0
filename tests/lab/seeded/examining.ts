/**
 * Examines seeded clients in process. As a program it examines all right ones in all trials, and
 * prints the harms that the exam finds in them, as JSON.
 */

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

/** Returns what the exam blames in right clients, which should be nothing. */
export async function blamedInRight(
  names: readonly string[],
  trials: readonly Trial[],
  clientTimeout = CLIENT_TIMEOUT,
): Promise<readonly string[]> {
  const blamed: string[] = [];
  const next = names.values();
  await Promise.all(Array.from({ length: CLIENTS }, async () => {
    for (const name of next) {
      try {
        const results = await examineHabits(RIGHT[name] ?? {}, trials, {
          clientTimeout,
        });
        const harms = results.filter(({ verdict }) => verdict === "harm");
        blamed.push(...harms.map((result) => describe(name, result)));
        const skipped = results.filter(({ verdict }) => verdict === "skipped");
        blamed.push(...skipped.map(({ reason }) => `${name}: ${reason}`));
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
  console.log(JSON.stringify(await blamedInRight(Object.keys(RIGHT), TRIALS)));
}
