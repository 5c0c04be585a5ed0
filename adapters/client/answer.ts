/**
 * What the answer to a call means: its result, or why there is none.
 *
 * @module
 */

import * as v from "valibot";
import { ERROR_STATUS, type ErrorCode } from "../../core/http/refusal.ts";
import { parseJson } from "../../core/pets/int64.ts";
import { PetStoreError, type PetStoreErrorDetails } from "./error.ts";
import { type Answer, type Fault, MAX_BODY_BYTES } from "./exchange.ts";
import { parseRetryAfter } from "./retry.ts";

/** One operation of the contract, about to be performed. */
export interface Call<T extends object> {
  /** What is done, for messages. */
  readonly action: "list pets" | "create pet" | "get pet";
  /** Whether it adds an animal: everything else only reads. */
  readonly isCreate: boolean;
  /** Where the request goes, in full. */
  readonly url: string;
  /** The body of the request, as JSON text. */
  readonly body?: string;
  /** The status of success. */
  readonly status: 200 | 201;
  /** Makes the result of the response's JSON body, or says what is wrong with it. */
  read(body: unknown, answer: Answer): T | string;
}

/** What {@linkcode interpret} needs beside the answer. */
export interface InterpretOptions {
  /** Kept out of whatever a server makes it say. */
  readonly key: string;
  /** The time in ms since 1970. */
  readonly now: number;
}

const ERROR_CODES = Object.keys(ERROR_STATUS) as ErrorCode[];

/** The Error body of the contract, its status as {@linkcode parseJson} reads it. */
const errorBodySchema: v.GenericSchema<
  unknown,
  {
    readonly code: ErrorCode;
    readonly message: string;
    readonly status: bigint;
  }
> = v.object({
  code: v.picklist(ERROR_CODES),
  message: v.string(),
  status: v.bigint(),
});

/** The longest message or request id that is taken over from a response, in UTF-16 code units. */
const MAX_SHOWN = 1000;

/** The result of a call, or the error that says why there is none. */
export function interpret<T extends object>(
  answer: Answer | Fault,
  call: Call<T>,
  options: InterpretOptions,
): T | PetStoreError {
  if ("code" in answer) return faultError(answer, call, options);
  if (answer.status !== call.status) return refusal(answer, call, options);
  const result = readResult(answer, call);
  if (typeof result !== "string") return result;
  return new PetStoreError(`Cannot ${call.action}: ${result}`, {
    ...details(answer, options),
    code: "invalid_response",
    uncertain: call.isCreate,
  });
}

function faultError<T extends object>(
  { code, cause, head }: Fault,
  { action, isCreate, url }: Call<T>,
  options: InterpretOptions,
): PetStoreError {
  const reason = code === "timeout"
    ? "no complete response in time"
    : head === undefined
    ? "no response"
    : "the response broke off";
  const { origin } = new URL(url);
  const detail = code === "timeout"
    ? ""
    : ` (${show(innermostMessage(cause), options)})`;
  const message = `Cannot ${action}: ${reason} from ${origin}${detail}`;
  return new PetStoreError(message, {
    ...head && details(head, options),
    code,
    cause,
    uncertain: isCreate,
  });
}

/** Why a request failed: runtimes wrap the reason in errors that only say "fetch failed". */
function innermostMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  if (inner !== undefined) return innermostMessage(inner);
  // Deno puts the whole URL in front of it.
  return error.message.replace(/^error sending request for url \(.*?\): /, "");
}

/** What a response other than success says. */
function refusal<T extends object>(
  answer: Answer,
  { action, isCreate }: Call<T>,
  options: InterpretOptions,
): PetStoreError {
  const known = details(answer, options);
  const body = v.safeParse(errorBodySchema, parse(answer.text));
  // A proxy in between may send an error of its own, and even JSON: only what agrees with itself
  // and with the contract is taken for the service's word.
  const isOwn = body.success && body.output.status === BigInt(answer.status) &&
    answer.status === ERROR_STATUS[body.output.code];
  if (!isOwn) {
    const isSuccess = answer.status >= 200 && answer.status < 300;
    return new PetStoreError(`Cannot ${action}: ${describe(answer.status)}`, {
      ...known,
      code: isSuccess ? "invalid_response" : "http_error",
      uncertain: isCreate,
    });
  }
  // Below 500 the service refuses the request. A 503 with Retry-After is its word that nothing was
  // changed; without, that it cannot tell.
  const isCertain = answer.status < 500 ||
    (answer.status === 503 && known.retryAfter !== undefined);
  return new PetStoreError(show(body.output.message, options), {
    ...known,
    code: body.output.code,
    uncertain: isCreate && !isCertain,
  });
}

function describe(status: number): string {
  if (status === 0 || (status >= 300 && status < 400)) {
    return "the answer is a redirect, and none is followed, so that the key goes nowhere else";
  }
  return status >= 400
    ? `the answer is ${status}, and not from the service itself`
    : `the answer is ${status}, which is not in the contract`;
}

function details(
  { status, headers }: Answer | NonNullable<Fault["head"]>,
  options: InterpretOptions,
): Omit<PetStoreErrorDetails, "code"> {
  const requestId = headers.get("x-request-id");
  return {
    status: status === 0 ? undefined : status,
    requestId: requestId === null ? undefined : show(requestId, options),
    retryAfter: parseRetryAfter(headers.get("retry-after"), options.now),
  };
}

function readResult<T extends object>(
  answer: Answer,
  call: Call<T>,
): T | string {
  if (answer.text === undefined) {
    return `the response is not UTF-8 text of at most ${MAX_BODY_BYTES} bytes`;
  }
  const body = parse(answer.text);
  return body === undefined
    ? "the response is not JSON"
    : call.read(body, answer);
}

/** Parses JSON; `undefined` where it is none. What is wrong is not told: it would quote the text. */
function parse(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : parseJson(text);
  } catch {
    return undefined;
  }
}

/** What a server says, fit for a message: short, on one line, and without the key. */
function show(text: string, { key }: InterpretOptions): string {
  return text.replaceAll(key, "…").replaceAll(/\p{Cc}/gu, " ")
    .slice(0, MAX_SHOWN);
}
