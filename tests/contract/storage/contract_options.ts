/**
 * Options of the contracts: how clauses are registered as tests, and the storages that they check.
 */

/**
 * Registers a test: `it` of `node:test`, `bun:test` or Vitest, or `Deno.test`. `timeout` is in ms,
 * and longer than {@linkcode CLAUSE_TIMEOUT}, after which a clause ends itself.
 */
export type RegisterTest = (
  title: string,
  check: () => Promise<void>,
  timeout: number,
) => unknown;

/**
 * How long a clause may take, in ms, so that a storage that does not answer fails. Enough for a
 * busy machine.
 */
export const CLAUSE_TIMEOUT = 60_000;

/** The part of a storage that every contract needs. */
export interface Closable {
  /** Closes the storage. May be called more than once. */
  close(): Promise<void>;
}

/** Options of a contract. */
export interface ContractOptions<Storage extends Closable> {
  /** Registers a test for each clause. */
  readonly it: RegisterTest;
  /** Opens a new, empty storage. The test closes it. */
  readonly open: () => Promise<Storage>;
  /**
   * For a storage whose content outlives it: makes a new, empty place, such as a database, and
   * returns a function that opens a storage there, repeatedly, and several at once unless
   * `isShared` is false. The clauses about that are registered only if this is given.
   */
  readonly newPlace?: () => Promise<() => Promise<Storage>>;
  /**
   * False if only one storage at a time can be open at a place, as with a file of one process. Then
   * the clauses about several at once are not registered. Default: true.
   */
  readonly isShared?: boolean;
}

/** Registers a clause, which receives a storage, or a function that opens storages. */
type RegisterClause<Given> = (
  title: string,
  check: (given: Given) => Promise<void>,
) => void;

/** Registers clauses that are checked on a new storage. All titles begin with `prefix`. */
export function onStorage<Storage extends Closable>(
  { it, open }: ContractOptions<Storage>,
  prefix = "",
): RegisterClause<Storage> {
  const register = onOpener({ it, newOpener: async () => open }, prefix);
  return (title, check) =>
    register(title, async (open) => await check(await open()));
}

/** Registers clauses that open storages at a new place, if the options have `newPlace`. */
export function inPlace<Storage extends Closable>(
  { it, newPlace }: ContractOptions<Storage>,
  prefix = "",
): RegisterClause<() => Promise<Storage>> {
  if (newPlace === undefined) return () => {};
  return onOpener({ it, newOpener: newPlace }, prefix);
}

/** Registers clauses that open several storages at once at a new place, unless the options forbid it. */
export function inSharedPlace<Storage extends Closable>(
  options: ContractOptions<Storage>,
  prefix = "",
): RegisterClause<() => Promise<Storage>> {
  return options.isShared === false ? () => {} : inPlace(options, prefix);
}

/** Registers clauses that receive a function that opens storages, which are closed at the end. */
export function onOpener<Storage extends Closable, Options extends unknown[]>(
  { it, newOpener }: {
    readonly it: RegisterTest;
    readonly newOpener: () => Promise<
      (...options: Options) => Promise<Storage>
    >;
  },
  prefix = "",
): RegisterClause<(...options: Options) => Promise<Storage>> {
  async function checkOpened(
    check: (open: (...options: Options) => Promise<Storage>) => Promise<void>,
  ): Promise<void> {
    const open = await newOpener();
    const opened: Storage[] = [];
    try {
      await check(async (...options) => {
        const storage = await open(...options);
        opened.push(storage);
        return storage;
      });
    } finally {
      await Promise.all(opened.map((storage) => storage.close()));
    }
  }
  return (title, check) =>
    it(
      prefix + title,
      () => inTime(checkOpened(check)),
      CLAUSE_TIMEOUT + 5000,
    );
}

async function inTime(checking: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const limit = `${CLAUSE_TIMEOUT / 1000} s`;
      reject(new Error(`The storage did not answer, or not within ${limit}`));
    }, CLAUSE_TIMEOUT);
  });
  await Promise.race([checking, late]).finally(() => clearTimeout(timer));
}
