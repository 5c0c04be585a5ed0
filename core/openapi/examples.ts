/**
 * Examples of requests, and the responses to a client that sends them, in this order, to an empty
 * store.
 */

import type { JsonObject } from "./schemas.ts";

// Older browsers have no `JSON.rawJSON`; there the number is rounded.
const { rawJSON = Number } = JSON as unknown as {
  readonly rawJSON?: (text: string) => unknown;
};

/** An integer that `JSON.parse` rounds. */
const DIGITS = "9007199254740993";

/**
 * `DIGITS` as a number. `JSON.stringify` writes all digits. Unlike what `JSON.rawJSON` returns, it
 * can be cloned by `structuredClone`, which rounds it as `JSON.parse` does.
 */
class ExactNumber extends Number {
  toJSON(): unknown {
    return rawJSON(DIGITS);
  }
}
const BIG = new ExactNumber(DIGITS) as unknown as number;

// The first example is one that every tool shows unchanged.
const newRex: JsonObject = { name: "Rex", categoryId: 1 };
const newTom: JsonObject = { name: "Tom", categoryId: BIG, status: "pending" };
const rex: JsonObject = { id: 1, ...newRex, status: "available" };
const tom: JsonObject = { id: 2, ...newTom };

const EXACT = "An integer beyond 2^53, exact to the last digit";

export const newPetExamples: JsonObject = {
  examples: {
    pet: { summary: "A pet", value: newRex },
    exact: { summary: EXACT, value: newTom },
  },
};
export const petExamples: JsonObject = {
  examples: {
    pet: { summary: "A pet", value: rex },
    exact: { summary: EXACT, value: tom },
  },
};
export const petsExamples: JsonObject = {
  examples: {
    page: { summary: "A page of pets", value: [rex] },
    exact: { summary: EXACT, value: [rex, tom] },
    none: { summary: "No pet matches", value: [] },
  },
};
