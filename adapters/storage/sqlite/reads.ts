/**
 * Gets and lists in a turn of the event loop, in which requests of several clients may arrive.
 *
 * The first read of a turn runs as it arrives, so a single client never waits. Those that follow
 * wait for the end of the turn, and share one transaction and, if they are equal, one result: then a
 * crowd is answered together, which is cheaper at every stage up to its sockets. Their transaction
 * begins after all have arrived, so each sees all that was acknowledged before.
 *
 * Only gets and lists are counted: if the look-up of a key began a turn, each get would wait.
 */

import { setImmediate } from "node:timers";
import { closedError } from "../pet_database.ts";
import type { Query, SqliteFile } from "./file.ts";

/** Reads that are equal. */
interface Waiting extends Query {
  readonly callers: PromiseWithResolvers<unknown>[];
  /** Copies the result, for callers after the first. */
  readonly copy: (result: unknown) => unknown;
}

/** Makes the turns of the reads of a file. */
export function readsInTurns(file: SqliteFile) {
  /** By their keys. */
  let waiting = new Map<unknown, Waiting>();
  let hasBegun = false;
  let isClosed = false;

  function endTurn(): void {
    hasBegun = false;
    if (waiting.size === 0) return;
    const group = [...waiting.values()];
    waiting = new Map();
    file.readEach("read pets", group).then(
      (results) => group.forEach((one, i) => settle(one, results[i])),
      (error) => group.forEach((one) => settle(one, error)),
    );
  }

  return {
    /**
     * Reads.
     *
     * @param key is the same for equal reads, and differs between a get and a list.
     * @param copy makes results that callers may change independently.
     */
    read<T>(
      action: string,
      key: unknown,
      query: () => T,
      copy = (result: T): T => result,
    ): Promise<T> {
      if (isClosed) return Promise.reject(closedError(action));
      if (!hasBegun) {
        hasBegun = true;
        setImmediate(endTurn);
        return file.read(action, query);
      }
      const caller = Promise.withResolvers<unknown>();
      const equal = waiting.get(key);
      if (equal !== undefined) equal.callers.push(caller);
      else {
        const ofAny = copy as Waiting["copy"]; // of what `query` returns
        waiting.set(key, { action, query, callers: [caller], copy: ofAny });
      }
      return caller.promise as Promise<T>; // of an equal query
    },

    /** Refuses further reads, and answers those that wait. */
    close(): void {
      isClosed = true;
      endTurn();
    },
  };
}

function settle({ callers, copy }: Waiting, result: unknown): void {
  for (const [i, { resolve, reject }] of callers.entries()) {
    if (result instanceof Error) reject(result);
    else resolve(i === 0 ? result : copy(result));
  }
}
