// What Hono's pet store has of the contract that Fastify's has in JSON Schemas, and the Error bodies of both.
import * as v from "valibot";
import { PET_STATUSES } from "./pet.ts";

const status = v.picklist(PET_STATUSES);

const integer = v.pipe(
  v.string(),
  v.regex(/^-?\d+$/),
  v.toNumber(),
  v.safeInteger(),
);

/** The parameters of a listing, as a query string has them: texts. */
export const pageQuery = v.object({
  limit: v.optional(v.pipe(integer, v.minValue(1), v.maxValue(100)), "20"),
  status: v.optional(status),
  after: v.optional(integer),
});

/** The `petId` of a path. */
export const petParameters = v.object({ petId: integer });

export const newPet = v.object({
  name: v.pipe(v.string(), v.minLength(1), v.maxLength(255)),
  categoryId: v.pipe(v.number(), v.safeInteger()),
  status: v.optional(status),
});

export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly status: number;
}

export const unauthorized: ErrorBody = {
  code: "unauthorized",
  message: "API key is not valid",
  status: 401,
};
export const notFound: ErrorBody = {
  code: "not_found",
  message: "Pet not found",
  status: 404,
};

/** What a validation that failed leaves. */
export interface Failure {
  readonly issues?: readonly { readonly message: string }[] | undefined;
}

export function badRequest({ issues = [] }: Failure): ErrorBody {
  const message = issues.map((issue) => issue.message).join("; ");
  return { code: "bad_request", message, status: 400 };
}
