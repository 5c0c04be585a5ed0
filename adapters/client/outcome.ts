/** Makes the result of a call, or the error, from what was received. */

import * as v from "valibot";
import { ERROR_STATUS, parseWithInt64 } from "../../core/kit.ts";
import { type ClientCall, Mismatch } from "./calls.ts";
import { PetStoreError, type PetStoreErrorCode } from "./error.ts";
import { MAX_BODY_BYTES, type Received } from "./exchange.ts";
import type { Settings } from "./options.ts";
import { parseRetryAfter } from "./retry.ts";

/** The result of a call, or why it failed. */
export type Outcome<T> = { readonly result: T } | PetStoreError;

/** The Error body of the contract. */
const errorBodySchema = v.object({
  code: v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_]{0,63}$/)),
  message: v.string(),
  status: v.number(),
});

const statusOf = new Map<string, number>(Object.entries(ERROR_STATUS));

const NOT_JSON =
  `the response is not JSON in UTF-8 of at most ${MAX_BODY_BYTES} bytes, or its chunks are tiny`;
const REDIRECT =
  "the answer is a redirect, which is not followed, so that the key goes nowhere else";

/** Longest message or request id taken from a response, in UTF-16 code units. */
const MAX_SHOWN = 1000;

/**
 * Reads what was received. No message shows the key.
 *
 * @param uncertain true if an earlier attempt may have added the pet.
 */
export function readOutcome<T extends object>(
  received: Received,
  call: ClientCall<T>,
  { key, origin, now, uncertain }: Settings & { readonly uncertain: boolean },
): Outcome<T> {
  const { status, headers, text = "", fault, cause } = received;
  const isCreate = call.body !== undefined;
  const requestId = headers.get("x-request-id");
  const known = {
    status: status === 0 ? undefined : status,
    requestId: requestId === null ? undefined : show(requestId, key),
    retryAfter: parseRetryAfter(headers, now()),
    uncertain: isCreate,
    cause,
  };
  const fail = (code: PetStoreErrorCode, reason: string): Outcome<T> => {
    const message = `Cannot ${call.action}: ${reason}`;
    return new PetStoreError(message, { ...known, code });
  };
  if (fault !== undefined) {
    return fail(fault, show(describeFault(received, origin), key));
  }
  const body = parseWithInt64(text, "id", "categoryId");
  if (status === (isCreate ? 201 : 200)) {
    if (body === undefined) return fail("invalid_response", NOT_JSON);
    try {
      return { result: call.read(body, headers) };
    } catch (error) {
      if (!(error instanceof Mismatch)) throw error;
      return fail("invalid_response", error.message);
    }
  }
  const refusal = readRefusal(status, body);
  if (refusal === undefined) return fail(...describeStatus(status));
  // Below 500 the service refuses the request. A 503 with Retry-After means that nothing was
  // changed; without it, that the service cannot tell.
  const isCertain = statusOf.has(refusal.code) && !uncertain &&
    (status < 500 || (status === 503 && known.retryAfter !== undefined));
  const code = show(refusal.code, key);
  const details = { ...known, code, uncertain: isCreate && !isCertain };
  return new PetStoreError(show(refusal.message, key), details);
}

function describeFault(
  { status, fault, cause }: Received,
  origin: string,
): string {
  if (fault === "timeout") {
    return `no complete response in time from ${origin}`;
  }
  const reason = status === 0 ? "no response" : "the response broke off";
  return `${reason} from ${origin} (${innermostMessage(cause)})`;
}

/**
 * Finds why a request failed: runtimes wrap the reason in errors that only say "fetch failed".
 * Looks no deeper than `depth`, because an error may be its own cause.
 */
function innermostMessage(error: unknown, depth = 9): string {
  if (!(error instanceof Error)) return String(error);
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  if (inner !== undefined && depth > 0) {
    return innermostMessage(inner, depth - 1);
  }
  // Deno 2.9 prepends the whole URL (denoland/deno#24835). Can go if
  // tests/adapters/client/refused_test.ts passes on Deno without it.
  return error.message.replace(/^error sending request for url \(.*?\): /, "");
}

/**
 * Reads a refusal by the service itself. A proxy may send its own errors, even as JSON, but only
 * the service's have a code that matches the status.
 */
function readRefusal(status: number, body: unknown) {
  const { success, output } = v.safeParse(errorBodySchema, body);
  const isOwn = success && status >= 400 && status === output.status &&
    status === (statusOf.get(output.code) ?? status);
  return isOwn ? output : undefined;
}

function describeStatus(status: number): [PetStoreErrorCode, string] {
  const answer = `the answer is ${status}`;
  if (status >= 400 || status === 304) {
    return ["http_error", `${answer}, but not from the service itself`];
  }
  if (status >= 300 || status === 0) return ["http_error", REDIRECT];
  return ["invalid_response", `${answer}, which is not in the contract`];
}

/** Prepares a server's text for a message: short, on one line, and without the key. */
function show(text: string, key: string): string {
  return text.replaceAll(key, "…").replaceAll(/\p{Cc}/gu, " ")
    .slice(0, MAX_SHOWN);
}
