/** Reads the values of arguments and settings, which are texts. */

/** Reads a setting or an argument; its errors then name it. */
export function check<T>(
  name: string,
  read: () => T,
  Wrong: new (message: string, options: ErrorOptions) => Error = Error,
): T {
  try {
    return read();
  } catch (cause) {
    // `name` replaces the name of the option, or the action, in the message.
    const { message } = cause as Error;
    const reason = message.replace(/^(?:Wrong|Cannot) [^:]+: /, "");
    throw new Wrong(`Cannot read ${name}: ${reason}`, { cause });
  }
}

/** Reads the name or address of a host to listen on. */
export function readHost(text: string): string {
  if (text !== "*") return text; // Bun 1.4 would listen on every address
  throw mustBe("a host or an address (0.0.0.0 means every one)", text);
}

/** Makes the function that reads an integer within bounds. */
export function integer(max: number, min = 0): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^[0-9]{1,9}$/.test(text) && value >= min && value <= max) return value;
    throw mustBe(`an integer from ${min} to ${max}`, text);
  };
}

/** Reads a TCP port; 0 stands for any free one. */
export const readPort: (text: string) => number = integer(65_535);

/** Makes the error of a value that is none of these. */
export function mustBe(what: string, text: string): Error {
  return new Error(`it must be ${what}, not ${JSON.stringify(text)}`);
}
