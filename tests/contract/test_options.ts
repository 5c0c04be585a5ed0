/** How the tests of a contract are registered. */

/** Options of `node:test` that a contract passes on to each of its tests. */
export interface TestOptions {
  /** Why they cannot run here. */
  readonly skip?: string | false;
  /** How long each may take, in ms. */
  readonly timeout?: number;
}
