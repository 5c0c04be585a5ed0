/** Checks of the options that functions take. */

/** The longest time of a timer, in ms: a longer one fires at once. */
export const MAX_TIME: number = 2 ** 31 - 1;

/**
 * Refuses options that a function does not have; one whose value is `undefined` counts as left out.
 *
 * @param owner the function, for the message.
 * @throws {TypeError} if there is one, or `options` is no object; it names the options that there are.
 */
export function checkNames(
  options: object,
  names: readonly string[],
  owner: string,
): void {
  const known = names.join(", ");
  if (typeof options !== "object" || options === null) {
    // It is not shown, because it may be a key.
    throw new TypeError(`${owner} takes an object of options: ${known}`);
  }
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || names.includes(name)) continue;
    throw new TypeError(`Unknown option ${name}: ${owner} has ${known}`);
  }
}

/** @throws {TypeError} if an option is no function. */
export function checkFunction(value: unknown, name: string): void {
  if (typeof value === "function") return;
  throw new TypeError(
    `Wrong option ${name}: it must be a function, not ${typeof value}`,
  );
}

/** @throws {RangeError} if an option is not an integer from `least` to `most`. */
export function checkIntegers(
  options: Readonly<Record<string, number>>,
  least: number,
  most: number = Number.MAX_SAFE_INTEGER,
): void {
  for (const [name, value] of Object.entries(options)) {
    if (Number.isSafeInteger(value) && value >= least && value <= most) {
      continue;
    }
    throw new RangeError(
      `Wrong option ${name}: it must be an integer from ${least} to ${most}, not ${
        shown(value)
      }`,
    );
  }
}

/** Shows a wrong value in a message; of an object only the type, because it may have a password. */
export function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  return typeof value === "number" || value === null
    ? `${value}`
    : typeof value;
}
