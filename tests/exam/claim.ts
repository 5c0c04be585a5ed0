/** What a command tells its caller: its exit status, and what it printed. docs/exam.md has the rules. */

import type { Ended } from "./command.ts";

/** A pet that a command showed. */
export interface ShownPet {
  readonly id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  /** If it showed one. */
  readonly status?: string;
}

/**
 * What a command tells its caller: pets, nothing at all, something that is not pets (with an advice
 * if the reason is likely), that it failed (and perhaps whether a pet was added), or that it does
 * not support the call.
 */
export type Claim =
  | { readonly kind: "pets"; readonly pets: readonly ShownPet[] }
  | { readonly kind: "nothing" }
  | { readonly kind: "other"; readonly text: string; readonly hint?: string }
  | {
    readonly kind: "failed";
    /** How it ended: `exit 1`, or `ended by SIGSEGV`. */
    readonly end: string;
    readonly added?: boolean;
  }
  | { readonly kind: "unsupported" };

/** The exit status of a command that does not support a call, as for automake and Meson. */
export const UNSUPPORTED = 77;
/** How many digits a number may have: more would take long to read, and no pet has them. */
const MAX_DIGITS = 1000;

/** Reads what a command that ended by itself tells its caller. */
export function readClaim({ code, signal, output }: Ended): Claim {
  const text = output.replace(/^\ufeff/, "").trim();
  if (code === UNSUPPORTED) return { kind: "unsupported" };
  const { values, hasOthers } = readValues(text);
  if (code !== 0) {
    const said = values.map((value) => Object(value).added)
      .findLast((added) => typeof added === "boolean");
    const end = signal
      ? `ended by ${signal}`
      : code === null
      ? "failure"
      : `exit ${code}`;
    return { kind: "failed", end, ...said !== undefined && { added: said } };
  }
  if (text === "") return { kind: "nothing" };
  const pets = values.map(readPet).filter((pet) => pet !== undefined);
  if (!hasOthers && pets.length === values.length) {
    return { kind: "pets", pets };
  }
  const hint = /^> /m.test(text)
    ? BANNER
    : hasOthers && values.length > 0
    ? ONLY_JSON
    : undefined;
  return { kind: "other", text, ...hint && { hint } };
}

const ONLY_JSON =
  "print only JSON to standard output, and anything else to standard error";
const BANNER =
  "a script runner prints a banner: use npm run --silent, or run the program itself";

/** Reads one JSON text or, if it is not one, one for each line. Arrays are concatenated. */
function readValues(text: string) {
  const whole = parseExactly(text);
  const texts = text.split("\n").filter((line) => line.trim() !== "");
  const parsed = whole !== undefined ? [whole] : texts.map(parseExactly);
  const values = parsed.filter((value) => value !== undefined);
  return { values: values.flat(), hasOthers: values.length < parsed.length };
}

/** Returns a value without loss: integers are bigints. Returns `undefined` if it is not JSON. */
export function parseExactly(text: string): unknown {
  const revive = (
    _name: string,
    value: unknown,
    { source }: { readonly source?: string },
  ) => typeof value === "number" ? toInteger(source ?? `${value}`) : value;
  try {
    return JSON.parse(
      text,
      revive as (name: string, value: unknown) => unknown,
    );
  } catch {
    return undefined;
  }
}

/** Returns the integer that a JSON number denotes, such as `1.0` or `1e2`; otherwise its text. */
function toInteger(source: string): bigint | string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(source) ?? [];
  const digits = whole + fraction.replace(/0+$/, "");
  const zeros = Number(exponent) - (digits.length - whole.length);
  if (/^0*$/.test(digits)) return 0n;
  if (zeros > MAX_DIGITS || digits.length > MAX_DIGITS) return source;
  const cut = digits.length + Math.min(zeros, 0);
  if (cut < 1 || /[1-9]/.test(digits.slice(cut))) return source;
  return BigInt(sign + digits.slice(0, cut) + "0".repeat(Math.max(zeros, 0)));
}

/** Reads a pet, whatever else it shows; returns `undefined` if it is none. */
export function readPet(value: unknown): ShownPet | undefined {
  const { name, status, ...ids } = Object(value);
  const [id, categoryId] = [readId(ids.id), readId(ids.categoryId)];
  if (id === undefined || categoryId === undefined) return undefined;
  if (typeof name !== "string") return undefined;
  if (status === undefined || status === null) return { id, name, categoryId };
  return { id, name, categoryId, status: String(status) };
}

/**
 * Names what keeps the first value of an output from being a pet, such as a pet in an envelope;
 * returns `undefined` if that is no JSON object, or lacks nothing.
 */
export function missingIn(output: string): string | undefined {
  const [value] = [parseExactly(output)].flat();
  if (Object(value) !== value) return undefined;
  const missing = MEMBERS.filter((name) => !Object.hasOwn(Object(value), name));
  if (missing.length === 0) return undefined;
  return `a pet has ${MEMBERS.join(", ")}; missing: ${missing.join(", ")}`;
}

const MEMBERS = ["id", "name", "categoryId"] as const;

function readId(value: unknown): bigint | undefined {
  if (typeof value === "bigint") return value;
  const isDigits = typeof value === "string" && /^-?\d{1,1000}$/.test(value);
  return isDigits ? BigInt(value) : undefined;
}
