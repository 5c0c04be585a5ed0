/** A clause of the contract over HTTP, as data: tests run it, and so does the judge. */

import type { OpenService } from "./ask.ts";

/** Options of the service that a clause may ask for. */
export interface ServerLimits {
  readonly maxBodyBytes?: number;
  readonly bodyTimeout?: number;
}

/** Rejects unless a promise is kept. The store need not be empty; nobody else adds pets meanwhile. */
export type Check = (service: OpenService) => Promise<void>;

/** One promise, and how to see whether it is kept. */
export interface Clause {
  readonly sentence: string;
  /** Who says so: the interface itself, or a decision of this project where the interface is silent. */
  readonly source: "interface" | "decision";
  readonly checks: readonly Check[];
  /** What the tests set, so that the clause is quick or sharp. */
  readonly limits?: ServerLimits;
  /** Why the clause cannot be seen on a service that somebody else started. */
  readonly outside?: string;
}

/** Makes clauses. The formatter knows `it`: a sentence and its check stay on one line. */
export const it = {
  /** A clause of the interface itself. */
  stated(sentence: string, ...checks: readonly Check[]): Clause {
    return { sentence, source: "interface", checks };
  },

  /** A clause that answers what the interface leaves open, as docs/contract.md does. */
  decided(sentence: string, ...checks: readonly Check[]): Clause {
    return { sentence, source: "decision", checks };
  },
};

/** Thrown by a check that cannot see what it needs to; a test that meets it fails. */
export class Unseen extends Error {}
