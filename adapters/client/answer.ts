/** What the answer to a call means: its result, or why it failed. */

import * as v from "valibot";
import { ERROR_STATUS } from "../../core/http/refusal.ts";
import { parseJson } from "../../core/json.ts";
import type { Call } from "./calls.ts";
import { PetStoreError, type PetStoreErrorDetails } from "./error.ts";
import { type Answer, type Fault, MAX_BODY_BYTES } from "./exchange.ts";
import { parseRetryAfter } from "./retry.ts";

interface InterpretOptions {
  /** Kept out of every message, whatever the server says. */
  readonly key: string;
  /** In ms since 1970. */
  readonly now: number;
  /** Whether an earlier attempt may have added the pet. */
  readonly uncertain: boolean;
}

/** The Error body of the contract, its status as {@linkcode parseJson} reads it. */
const errorBodySchema = v.object({
  code: v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_]{0,63}$/)),
  message: v.string(),
  status: v.bigint(),
});

const statusOf = new Map<string, number>(Object.entries(ERROR_STATUS));

/** Longest message or request id taken from a response, in UTF-16 code units. */
const MAX_SHOWN = 1000;

/** The result of a call, or the error that says why it failed. */
export function interpret<T extends object>(
  answer: Answer | Fault,
  call: Call<T>,
  options: InterpretOptions,
): T | PetStoreError {
  const isCreate = call.body !== undefined;
  const head = "code" in answer ? answer.head : answer;
  const known = { uncertain: isCreate, ...head && details(head, options) };
  const fail = (reason: string, found: PetStoreErrorDetails): PetStoreError =>
    new PetStoreError(`Cannot ${call.action}: ${reason}`, {
      ...known,
      ...found,
    });
  if ("code" in answer) {
    return fail(describeFault(answer, call.url, options), answer);
  }
  const { status, text } = answer;
  if (status === (isCreate ? 201 : 200)) {
    const result = readResult(answer, call);
    if (typeof result !== "string") return result;
    return fail(result, { code: "invalid_response" });
  }
  const refusal = readRefusal(status, text);
  if (refusal === undefined) {
    const isSuccess = status >= 200 && status < 300;
    const code = isSuccess ? "invalid_response" : "http_error";
    return fail(describeStatus(status), { code });
  }
  // Below 500 the service refuses the request. With a 503 and Retry-After it says that nothing was
  // changed; without Retry-After, that it cannot tell.
  const isCertain = statusOf.has(refusal.code) && !options.uncertain &&
    (status < 500 || (status === 503 && known.retryAfter !== undefined));
  return new PetStoreError(show(refusal.message, options), {
    ...known,
    code: show(refusal.code, options),
    uncertain: isCreate && !isCertain,
  });
}

function describeFault(
  { code, cause, head }: Fault,
  url: string,
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

/**
 * The service's own refusal. A proxy may send errors of its own, even as JSON: the service's own agree
 * with themselves and with the contract.
 */
function readRefusal(
  status: number,
  text: string | undefined,
): { readonly code: string; readonly message: string } | undefined {
  const { success, output } = v.safeParse(errorBodySchema, parse(text));
  const isOwn = success && status >= 400 && BigInt(status) === output.status &&
    status === (statusOf.get(output.code) ?? status);
  return isOwn ? output : undefined;
}

function describeStatus(status: number): string {
  if (status === 0 || (status >= 300 && status < 400)) {
    return "the answer is a redirect, and none is followed, so that the key goes nowhere else";
  }
  return status >= 400
    ? `the answer is ${status}, and not from the service itself`
    : `the answer is ${status}, which is not in the contract`;
}

function details(
  { status, headers }: NonNullable<Fault["head"]>,
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
  if (body === undefined) return "the response is not JSON";
  return call.read(body, answer);
}

/** Parses JSON; `undefined` if it is not JSON. The parser's own message would quote the text. */
function parse(text = ""): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** A server's text as part of a message: short, on one line, and without the key. */
function show(text: string, { key }: InterpretOptions): string {
  return text.replaceAll(key, "…").replaceAll(/\p{Cc}/gu, " ")
    .slice(0, MAX_SHOWN);
}
