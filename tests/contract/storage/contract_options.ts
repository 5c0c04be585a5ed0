/** Options of the contracts: where clauses are registered as tests, and the storages that they check. */

/** Registers a test: `it` of `node:test`, of `bun:test` or of Vitest, or `Deno.test`. */
export type RegisterTest = (
  title: string,
  check: () => Promise<void>,
) => unknown;

/** A storage, as far as every contract needs it. */
export interface Closable {
  /** Closes the storage. May be called more than once. */
  close(): Promise<void>;
}

/** Options of a contract. */
export interface ContractOptions<Storage extends Closable> {
  /** Registers a test for each clause. */
  readonly it: RegisterTest;
  /** Opens a new storage, with nothing in it. The test closes it. */
  readonly open: () => Promise<Storage>;
  /**
   * For a storage whose content outlives it: makes a new place, such as a database, with nothing in it,
   * and returns a function that opens a storage there, again and again and several at once. The clauses
   * on that are registered only if this is given.
   */
  readonly newPlace?: () => Promise<() => Promise<Storage>>;
}

/** Registers a clause, which is given a storage, or a function that opens storages. */
type RegisterClause<Given> = (
  title: string,
  check: (given: Given) => Promise<void>,
) => void;

/** Registers clauses that are checked on a new storage; all titles begin with `prefix`. */
export function onStorage<Storage extends Closable>(
  { it, open }: ContractOptions<Storage>,
  prefix = "",
): RegisterClause<Storage> {
  return (title, check) =>
    it(prefix + title, async () => {
      const storage = await open();
      try {
        await check(storage);
      } finally {
        await storage.close();
      }
    });
}

/** Registers clauses that open storages at a new place, if the options have places. */
export function inPlace<Storage extends Closable>(
  { it, newPlace }: ContractOptions<Storage>,
  prefix = "",
): RegisterClause<() => Promise<Storage>> {
  if (newPlace === undefined) return () => {};
  return (title, check) =>
    it(prefix + title, async () => {
      const open = await newPlace();
      const opened: Storage[] = [];
      try {
        await check(async () => {
          const storage = await open();
          opened.push(storage);
          return storage;
        });
      } finally {
        await Promise.all(opened.map((storage) => storage.close()));
      }
    });
}
