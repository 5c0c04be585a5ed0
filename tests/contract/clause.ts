/** Clauses of the contract over HTTP: tests run them, and so does the judge. */

import type { PetsClient } from "./pets_client.ts";

/** Options of the service that a clause may ask for. */
export interface ServerLimits {
  readonly maxBodyBytes?: number;
  readonly bodyTimeout?: number;
}

/** Rejects if a promise is broken. The store need not be empty, but nobody else may add pets meanwhile. */
export type Check = (client: PetsClient) => Promise<void>;

/** A check with conditions. */
export interface Clause {
  readonly check: Check;
  /** Settings of the tests, which make the clause quick or sharp. */
  readonly limits?: ServerLimits;
  /** Why the judge cannot see whether a service that somebody else started keeps the promise. */
  readonly outside?: string;
}

/** Checks, each under the sentence that it checks. */
export type Clauses = Readonly<Record<string, Check | Clause>>;
