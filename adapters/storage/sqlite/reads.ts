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
import type { Query, SqliteDatabase } from "./database.ts";

/** Reads that are equal, and their answer. */
interface Waiting extends Query {
  readonly answer: PromiseWithResolvers<unknown>;
}

/** Makes the turns of the reads of a database. */
export function readsInTurns(database: SqliteDatabase) {
  /** By their keys. */
  let waiting = new Map<unknown, Waiting>();
  let hasBegun = false;
  let isClosed = false;

  function endTurn(): void {
    hasBegun = false;
    if (waiting.size === 0) return;
    const group = [...waiting.values()];
    waiting = new Map();
    database.readEach("read pets", group).then(
      (results) => group.forEach((one, i) => settle(one, results[i])),
      (error) => group.forEach((one) => settle(one, error)),
    );
  }

  return {
    /**
     * Reads. Callers of equal reads may get the same object.
     *
     * @param key is the same for equal reads, and differs between a get and a list.
     */
    read<T>(action: string, key: unknown, query: () => T): Promise<T> {
      if (isClosed) return Promise.reject(closedError(action));
      if (!hasBegun) {
        hasBegun = true;
        setImmediate(endTurn);
        return database.read(action, query);
      }
      const equal = waiting.get(key) ??
        { action, query, answer: Promise.withResolvers() };
      waiting.set(key, equal);
      return equal.answer.promise as Promise<T>; // of an equal query
    },

    /** Refuses further reads, and answers those that wait. */
    close(): void {
      isClosed = true;
      endTurn();
    },
  };
}

function settle({ answer }: Waiting, result: unknown): void {
  if (result instanceof Error) answer.reject(result);
  else answer.resolve(result);
}
