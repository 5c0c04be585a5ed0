/**
 * fast-check, pets for it, its seed and its number of runs from one place: `deno task laws --runs N --seed N`,
 * which sets `LAWS_RUNS` and `LAWS_SEED`. Without them a property has its usual number of runs.
 */

import fc from "fast-check";
import process from "node:process";
import { INT64_MAX, INT64_MIN } from "../../core/int64.ts";
import { type CheckedPet, PET_STATUSES } from "../../core/pets/pet.ts";
import { newPet } from "./pets.ts";

const given = Number(process.env.LAWS_RUNS || NaN);
const seed = Number(process.env.LAWS_SEED || NaN);

fc.configureGlobal({ ...(Number.isNaN(seed) ? {} : { seed }), ...runs(100) });

export { fc };

/** The parameters of a property that usually runs this often. */
export function runs(usual: number): { readonly numRuns: number } {
  return { numRuns: Number.isNaN(given) ? usual : given };
}

/**
 * The time limit in ms of a property that takes less than three minutes for this many runs, even on
 * a busy machine.
 */
export function patience(usual: number): number {
  return 180_000 * Math.max(1, runs(usual).numRuns / usual);
}

/** Texts made of these parts. */
export function joined(
  ...parts: readonly fc.Arbitrary<string>[]
): fc.Arbitrary<string> {
  return fc.tuple(...parts).map((all) => all.join(""));
}

/** Any UTF-16 code unit from `min` to `max`. */
export function codeUnit(min: number, max: number): fc.Arbitrary<string> {
  return fc.integer({ min, max }).map((code) => String.fromCharCode(code));
}

const codePoint = fc.oneof(
  fc.integer({ min: 0, max: 0xd7ff }),
  fc.integer({ min: 0xe000, max: 0x10ffff }),
).map((point) => String.fromCodePoint(point));

/**
 * Any text of whole code points, as `fc.string({ unit: "binary" })`. For that, fast-check 4 makes a
 * table of all code points, which takes a second and 100 MB in each file.
 */
export function anyText(
  lengths: { readonly minLength?: number; readonly maxLength?: number } = {},
): fc.Arbitrary<string> {
  return fc.string({ unit: codePoint, ...lengths });
}

/** Any name that a pet may have. */
export const anyName: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0x20, max: 0x7e }),
      fc.integer({ min: 0x80, max: 0xd7ff }),
      fc.integer({ min: 0xe000, max: 0x10ffff }),
    ),
    { minLength: 1, maxLength: 255, size: "medium" },
  )
  .map((codePoints) => String.fromCodePoint(...codePoints));

/** Any pet that can be created. */
export const anyNewPet: fc.Arbitrary<CheckedPet> = fc.record({
  name: anyName,
  categoryId: fc.bigInt({ min: INT64_MIN, max: INT64_MAX }),
  status: fc.constantFrom(...PET_STATUSES),
}, { noNullPrototype: true }).map(newPet);
