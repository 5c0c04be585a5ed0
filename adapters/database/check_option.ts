/**
 * The check of a storage's numeric options.
 *
 * @module
 */

/** @throws {RangeError} if an option is not an integer of at least `least`. */
export function checkAtLeast(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new RangeError(
    `${name} must be an integer of at least ${least}, not ${value}`,
  );
}
