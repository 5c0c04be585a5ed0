/** Makes the answer of a fault that replaces the service's. */

import {
  type Answer,
  ERROR_STATUS,
  type ErrorCode,
  type Fields,
  missingKey,
  noAnswer,
  Refusal,
} from "../../core/kit.ts";
import type { Fault } from "./fault.ts";
import { operationOf, type OperationRequest } from "./match_fault.ts";

/** The errors of the contract, by status. */
export const ERROR_CODES: ReadonlyMap<number, ErrorCode> = new Map(
  (Object.keys(ERROR_STATUS) as ErrorCode[])
    .map((code) => [ERROR_STATUS[code], code]),
);
/** Header fields of errors, as the service sends them. */
const ERROR_FIELDS: Readonly<Partial<Record<ErrorCode, Fields>>> = {
  unauthorized: missingKey.headers,
  method_not_allowed: { allow: "OPTIONS" },
  unsupported_media_type: { accept: "application/json" },
  too_many_requests: { "retry-after": "1" },
  service_unavailable: { "retry-after": "1" },
};

/**
 * Makes the answer of a fault to a request, without the header fields that the fault sets;
 * `noAnswer` if the answer is lost; `undefined` if it sends the true answer. If the request is
 * carried out, it has no `Retry-After`.
 */
export function madeAnswer(
  { answer: { status, body } = {}, lose, work }: Fault,
  request: OperationRequest,
): Answer | undefined {
  if (lose) return noAnswer;
  if (status === undefined) return undefined;
  const code = ERROR_CODES.get(status);
  if (body !== undefined || code === undefined) {
    return { status, headers: {}, body: body ?? null };
  }
  const message = `The sandbox was told to answer ${status}: ${
    work ? "the request was carried out first" : "nothing was changed"
  }`;
  const { "retry-after": again, ...others } = ERROR_FIELDS[code] ?? {};
  const operation = status === 405 ? undefined : operationOf(request);
  return new Refusal(code, message, {
    ...others,
    ...again && !work && { "retry-after": again },
    ...operation?.fields,
  });
}
