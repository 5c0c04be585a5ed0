/** Assertions of the contracts. Each message begins with what was checked. */

import assert from "node:assert/strict";
import { isStorageError } from "../../../core/pets/pet_storage.ts";

/** Asserts that two values are deeply equal; `what` names the first. */
export function assertSame(
  actual: unknown,
  expected: unknown,
  what: string,
): void {
  try {
    assert.deepEqual(actual, expected);
  } catch (cause) {
    const message = `${what}: ${
      cause instanceof Error ? cause.message : cause
    }`;
    throw new assert.AssertionError({ message, actual, expected });
  }
}

/** Asserts that there are several ids, and that each is greater than the one before it. */
export function assertAscending(ids: readonly bigint[]): void {
  assert.ok(ids.length > 1, `expected several ids, got ${ids.length}`);
  for (const [i, id] of ids.entries()) {
    const before = ids[i - 1] ?? 0n;
    assert.ok(id > before, `id ${id} came after id ${before}`);
  }
}

/** Asserts that each of these calls is rejected, and how. Calls are named after their methods. */
export async function assertRejected(
  calls: Readonly<Record<string, () => Promise<unknown>>>,
  state: string,
  expected: (error: unknown) => boolean = () => true,
): Promise<void> {
  for (const [method, call] of Object.entries(calls)) {
    const outcome = await (async () => await call())().then(
      () => "was fulfilled",
      (error) => expected(error) ? "" : `was rejected with ${error}`,
    );
    assert.equal(outcome, "", `${method} ${outcome} ${state}`);
  }
}

/** Asserts that each of these calls is rejected as `unavailable`. */
export function assertClosed(
  calls: Readonly<Record<string, () => Promise<unknown>>>,
): Promise<void> {
  return assertRejected(
    calls,
    'after close, expected a StorageError "unavailable"',
    (error) => isStorageError(error) && error.kind === "unavailable",
  );
}
