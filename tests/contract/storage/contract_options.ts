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

/** Registers a clause that is checked on a new storage. */
export function withStorage<Storage extends Closable>(
  { it, open }: ContractOptions<Storage>,
  title: string,
  check: (storage: Storage) => Promise<void>,
): void {
  it(title, async () => {
    const storage = await open();
    try {
      await check(storage);
    } finally {
      await storage.close();
    }
  });
}

/** Registers a clause that opens storages at a new place, if the options have places. */
export function withPlace<Storage extends Closable>(
  { it, newPlace }: ContractOptions<Storage>,
  title: string,
  check: (open: () => Promise<Storage>) => Promise<void>,
): void {
  if (newPlace === undefined) return;
  it(title, async () => {
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
