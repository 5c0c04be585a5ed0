/**
 * The Error bodies of every contestant but ours: the codes of the contract, in words of their own.
 *
 * @module
 */

export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly status: number;
}

export const unauthorized: ErrorBody = {
  code: "unauthorized",
  message: "API key is missing or invalid",
  status: 401,
};

export const notFound: ErrorBody = {
  code: "not_found",
  message: "There is no such animal",
  status: 404,
};

/** @param issues what is wrong, as valibot and other Standard Schemas have it. */
export function badRequest(
  issues: readonly { readonly message: string }[],
): ErrorBody {
  const message = issues.map((issue) => issue.message).join("; ");
  return { code: "bad_request", message, status: 400 };
}
