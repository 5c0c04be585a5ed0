/**
 * The resources as JSON Schemas. Generators copy descriptions into comments, so they are plain
 * text.
 */

import { ERROR_STATUS } from "../answer.ts";
import { MAX_NAME_LENGTH } from "../pets/new_pet.ts";
import { MAX_LIMIT } from "../pets/page.ts";
import { PET_STATUSES } from "../pets/pet.ts";

/** A JSON object. Arrays in it contain no arrays. */
export interface JsonObject {
  /** A member. */
  readonly [name: string]:
    | string
    | number
    | boolean
    | null
    | JsonObject
    | readonly (string | number | JsonObject)[];
}

const CODES = Object.keys(ERROR_STATUS);

// An int64 has no bounds here, because generators for other languages read them as doubles.
const id: JsonObject = {
  type: "integer",
  format: "int64",
  description: "Assigned by the service: positive, ascending, never reused.",
  examples: [7],
};
const name: JsonObject = {
  type: "string",
  minLength: 1,
  maxLength: MAX_NAME_LENGTH,
  // \x means the same in the regular expressions of all languages; \u does not.
  pattern: "^[^\\x00-\\x1f\\x7f]+$",
  description:
    "Kept exactly as it was sent. Its length is counted in Unicode code points; control characters and lone surrogates are refused.",
  examples: ["Rex"],
};
const categoryId: JsonObject = {
  type: "integer",
  format: "int64",
  description:
    "The category that the pet belongs to: any 64-bit integer. 1.0 and 1e2 are integers too.",
  examples: [1],
};

export const schemas: JsonObject = {
  PetStatus: {
    type: "string",
    enum: PET_STATUSES,
    description: "Availability of a pet.",
  },
  NewPet: {
    type: "object",
    description: "A pet to add. Other members are ignored.",
    required: ["name", "categoryId"],
    properties: {
      name,
      categoryId,
      status: {
        $ref: "#/components/schemas/PetStatus",
        description: "Availability of the pet; available if it is omitted.",
      },
    },
  },
  Pet: {
    type: "object",
    description: "A pet. Later versions may add members.",
    required: ["id", "name", "categoryId", "status"],
    properties: {
      id,
      name,
      categoryId,
      status: {
        $ref: "#/components/schemas/PetStatus",
        description: "Availability of the pet.",
      },
    },
  },
  Pets: {
    type: "array",
    description: "A page of pets, ascending by id.",
    maxItems: MAX_LIMIT,
    items: { $ref: "#/components/schemas/Pet" },
  },
  OpenApi: {
    type: "object",
    description: "An OpenAPI document.",
    required: ["openapi"],
    properties: {
      openapi: {
        type: "string",
        description: "The version of the OpenAPI Specification.",
      },
    },
  },
  Error: {
    type: "object",
    description: "Why a request was refused, or failed.",
    required: ["code", "message", "status"],
    properties: {
      code: {
        type: "string",
        description:
          `Machine-readable, and stable: branch on this. Later versions may add codes: go by status if you do not know one. Known codes: ${
            CODES.join(", ")
          }.`,
        examples: CODES,
      },
      message: {
        type: "string",
        description: "For people; its wording may change.",
      },
      status: {
        type: "integer",
        format: "int32",
        description: "The HTTP status code of the response.",
      },
    },
  },
};
