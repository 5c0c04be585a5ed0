/**
 * What the answer to a call means: its result, or why it failed.
 *
 * @module
 */

import * as v from "valibot";
import { ERROR_STATUS } from "../../core/http/refusal.ts";
import { parseJson } from "../../core/pets/int64.ts";
import { PetStoreError, type PetStoreErrorDetails } from "./error.ts";
import { type Answer, type Fault, MAX_BODY_BYTES } from "./exchange.ts";
import { parseRetryAfter } from "./retry.ts";

/** One operation of the contract, about to be performed. */
export interface Call<T extends object> {
  /** What is done, for messages. */
  readonly action: "list pets" | "create pet" | "get pet";
  /** Whether it adds a pet: everything else only reads. */
  readonly isCreate: boolean;
  /** Where the request goes, in full. */
  readonly url: string;
  /** The body of a create, as JSON text. */
  readonly body?: string;
  /** The header field `Idempotency-Key` of a create. */
  readonly idempotencyKey?: string | undefined;
  /** Makes the result of the response's JSON body, or says what is wrong with it. */
  read(body: unknown, answer: Answer): T | string;
}

/** What {@linkcode interpret} needs beside the answer. */
export interface InterpretOptions {
  /** Kept out of every message, whatever the server says. */
  readonly key: string;
  /** The time in ms since 1970. */
  readonly now: number;
  /** Whether an attempt before this one may have added the pet. */
  readonly uncertain: boolean;
}

/** The Error body of the contract, its status as {@linkcode parseJson} reads it. */
const errorBodySchema: v.GenericSchema<
  unknown,
  { readonly code: string; readonly message: string; readonly status: bigint }
> = v.object({
  code: v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_]{0,63}$/)),
  message: v.string(),
  status: v.bigint(),
});

const statusOf: ReadonlyMap<string, number> = new Map(
  Object.entries(ERROR_STATUS),
);

/** The longest message or request id that is taken over from a response, in UTF-16 code units. */
const MAX_SHOWN = 1000;

/** The result of a call, or the error that says why it failed. */
export function interpret<T extends object>(
  answer: Answer | Fault,
  call: Call<T>,
  options: InterpretOptions,
): T | PetStoreError {
  const { action, isCreate } = call;
  const fail = (reason: string, found: PetStoreErrorDetails): PetStoreError =>
    new PetStoreError(`Cannot ${action}: ${reason}`, {
      uncertain: isCreate,
      ...found,
    });
  if ("code" in answer) {
    const { code, cause, head } = answer;
    const known = head && details(head, options);
    return fail(describeFault(answer, call, options), {
      ...known,
      code,
      cause,
    });
  }
  const { status } = answer;
  const result = status === (isCreate ? 201 : 200)
    ? readResult(answer, call)
    : refusal(answer, call, options) ?? describe(status);
  if (typeof result !== "string") return result;
  const isSuccess = status >= 200 && status < 300;
  const code = isSuccess ? "invalid_response" : "http_error";
  return fail(result, { ...details(answer, options), code });
}

function describeFault(
  { code, cause, head }: Fault,
  { url }: Call<object>,
  options: InterpretOptions,
): string {
  const { origin } = new URL(url);
  if (code === "timeout") return `no complete response in time from ${origin}`;
  const reason = head === undefined ? "no response" : "the response broke off";
  return `${reason} from ${origin} (${show(innermostMessage(cause), options)})`;
}

/** Why a request failed: runtimes wrap the reason in errors that only say "fetch failed". */
function innermostMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  if (inner !== undefined) return innermostMessage(inner);
  // Deno puts the whole URL in front of it.
  return error.message.replace(/^error sending request for url \(.*?\): /, "");
}

/** The service's own refusal; `undefined` if the response is not its own. */
function refusal(
  answer: Answer,
  { isCreate }: Call<object>,
  options: InterpretOptions,
): PetStoreError | undefined {
  const { status } = answer;
  const body = v.safeParse(errorBodySchema, parse(answer.text));
  if (!body.success) return undefined;
  const { code, message } = body.output;
  // A proxy in between may send an error of its own, and even JSON: the service's own agrees with
  // itself and with the contract.
  const isOwn = status >= 400 && BigInt(status) === body.output.status &&
    status === (statusOf.get(code) ?? status);
  if (!isOwn) return undefined;
  const known = details(answer, options);
  // Below 500 the service refuses the request. A 503 with Retry-After is its word that nothing was
  // changed; without, that it cannot tell.
  const isCertain = statusOf.has(code) && !options.uncertain &&
    (status < 500 || (status === 503 && known.retryAfter !== undefined));
  return new PetStoreError(show(message, options), {
    ...known,
    code: show(code, options),
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

/** Parses JSON; `undefined` if it is not JSON. The parser's own message would quote the text. */
function parse(text = ""): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** A text of a server, fit for a message: short, on one line, and without the key. */
function show(text: string, { key }: InterpretOptions): string {
  return text.replaceAll(key, "…").replaceAll(/\p{Cc}/gu, " ")
    .slice(0, MAX_SHOWN);
}
