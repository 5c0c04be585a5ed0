/** The trials of the exam, and the pet store that each of them has for itself. */

import type { Fault } from "../../adapters/sandbox/mod.ts";
import data from "./trials.json" with { type: "json" };

/** What a client is asked to do: an operation, or `walk`, which lists all pets, page by page. */
export type Call = "createPet" | "getPet" | "listPets" | "walk";

/** What only gateways do: harm, but `repeats_create` is advice. */
export type GatewayFinding =
  | "changes_header"
  | "completes_cut_answer"
  | "caches"
  | "repeats_create";

/** What is harm: the caller is told something untrue, or more happens than was asked. */
export type Harm =
  | "adds_two"
  | "false_success"
  | "false_failure"
  | "wrong_pet"
  | "loses_digits"
  | "partial_list"
  | "error_as_data"
  | "leaks_key"
  | "hangs";

/** What could be better. */
export type Advice =
  | "gives_up"
  | "no_idempotency_key"
  | "new_key_each_attempt"
  | "one_key_for_two_pets"
  | "too_early"
  | "repeats_refused_key"
  | "too_many"
  | "refuses_unknown"
  | "shows_nothing"
  | "ended";

/** All harms. */
export const HARMS: readonly Harm[] = [
  "adds_two",
  "false_success",
  "false_failure",
  "wrong_pet",
  "loses_digits",
  "partial_list",
  "error_as_data",
  "leaks_key",
  "hangs",
];

/** A trial: an object of `trials.json`. */
export interface Trial {
  /** What happens, in words. */
  readonly title: string;
  readonly call: Call;
  /** What goes wrong. A `delay` is for clients with a time limit of a second. */
  readonly faults: readonly Fault[];
  /**
   * The pets of the store: how many, the id of the first, the distance between two ids, and their
   * category. By default there are 130, with drawn ids, in small categories.
   */
  readonly pets?: {
    readonly count?: number;
    readonly first?: string;
    readonly step?: string;
    readonly categoryId?: string;
  };
  /** The pet to create, if it is not just any: its category, or `null` for no status. */
  readonly pet?: {
    readonly categoryId?: string;
    readonly status?: "pending" | null;
  };
  /** Which pet to get: its index, or none that exists. Default: a drawn one. */
  readonly ask?: number | "missing";
  /** The client runs a second time, to create another pet, or to create one that is equal. */
  readonly twice?: "another" | "equal";
  /** The store no longer has `getPet`. */
  readonly isAfterRemoval?: true;
  /** The harms that it can show. */
  readonly harms: readonly (Harm | GatewayFinding)[];
  /**
   * Whether the request can be sent again once it has failed: always, or only if it has an
   * `Idempotency-Key`, because nobody knows its outcome. Default: it need not be.
   */
  readonly again?: "safe" | "keyed";
  /** If true, what is new is a status or a member, which a client should accept. */
  readonly hasNewWords?: true;
  /** What to do about going round in a circle. Default: what the report says of a finding. */
  readonly loopRemedy?: string;
  /**
   * What does that in the world. If it is a wrong store, only `adds_two` and `leaks_key` are harm.
   */
  readonly provokedBy: "network" | "gateway" | "service" | "wrong store";
}

/** All trials, in the order of the report. */
export const TRIALS: readonly Trial[] = data as readonly Trial[];

/**
 * Returns the trials of these calls, and those with one of these texts in their title, in any case.
 *
 * @throws {RangeError} if a text fits no trial.
 */
export function chooseTrials<T extends Trial>(
  texts: readonly string[],
  all: readonly T[],
): readonly T[] {
  const fits = ({ title, call }: Trial, text: string): boolean =>
    call === text || title.toLowerCase().includes(text.toLowerCase());
  for (const text of texts) {
    if (all.some((trial) => fits(trial, text))) continue;
    throw new RangeError(`No trial fits ${JSON.stringify(text)}`);
  }
  return all.filter((trial) => texts.some((text) => fits(trial, text)));
}

/** Before any trial, each call must succeed without a fault. */
export const PLAIN: readonly Trial[] = [
  ["createPet, with a status", "createPet", { pet: { status: "pending" } }],
  ["createPet, without a status", "createPet", { pet: { status: null } }],
  ["getPet", "getPet", {}],
  ["listPets", "listPets", {}],
  ["walk", "walk", {}],
].map(([title, call, more]) => ({
  ...{ title, call, ...more as object },
  ...{ faults: [], harms: [], provokedBy: "service" },
} as unknown as Trial));
