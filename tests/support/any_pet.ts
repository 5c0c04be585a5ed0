/** Pets for properties. */

import { INT64_MAX, INT64_MIN } from "../../core/json.ts";
import { type CheckedPet, PET_STATUSES } from "../../core/pets/pet.ts";
import { fc } from "./property.ts";
import { newPet } from "./pets.ts";

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
