/**
 * The check that every storage makes of its numeric options.
 *
 * @module
 */

/** @throws {RangeError} where an option is not an integer, or less than `least`. */
export function checkAtLeast(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new RangeError(
    `${name} must be an integer of at least ${least}, not ${value}`,
  );
}
