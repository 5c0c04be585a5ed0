/** Checks of options that are passed to functions. */

/** The longest delay of a timer, in ms. A longer one fires at once. */
export const MAX_TIME: number = 2 ** 31 - 1;

/**
 * Refuses options that a function does not have. An option that is `undefined` counts as omitted.
 *
 * @param owner the function, for the message.
 * @throws {TypeError} if an option is unknown, or `options` is not an object. The message names the
 * known ones.
 */
export function checkNames(
  options: object,
  names: readonly string[],
  owner: string,
): void {
  const known = names.join(", ");
  if (typeof options !== "object" || options === null) {
    // The value is not shown, because it may be a key.
    throw new TypeError(`${owner} accepts an object with options: ${known}`);
  }
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || names.includes(name)) continue;
    throw new TypeError(`Unknown option ${name}: ${owner} accepts ${known}`);
  }
}

/**
 * Refuses an option that is not a function.
 *
 * @throws {TypeError} if it is not.
 */
export function checkFunction(value: unknown, name: string): void {
  if (typeof value === "function") return;
  throw new TypeError(
    `Wrong option ${name}: it must be a function, not ${typeof value}`,
  );
}

/**
 * Refuses options that are not integers from `least` to `most`.
 *
 * @throws {RangeError} if one is not.
 */
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

/**
 * Shows a wrong value in a message. Only the type of an object is shown, because it may contain a
 * password.
 */
export function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  return typeof value === "number" || value === null
    ? `${value}`
    : typeof value;
}
