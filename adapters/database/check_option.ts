/** @throws {RangeError} if an option is not an integer of at least `least`. */
export function checkAtLeast(
  least: number,
  options: Readonly<Record<string, number>>,
): void {
  for (const [name, value] of Object.entries(options)) {
    if (Number.isSafeInteger(value) && value >= least) continue;
    throw new RangeError(
      `${name} must be an integer of at least ${least}, not ${value}`,
    );
  }
}
