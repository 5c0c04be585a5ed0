/** What a tester can make go wrong, and the checks of it. */

import * as v from "valibot";
import { isFieldValue } from "../../core/http/field_value.ts";
import {
  ERROR_STATUS,
  type ErrorCode,
  internalError,
  outcomeUnknown,
  Refusal,
  tooManyRequests,
  unavailable,
} from "../../core/http/refusal.ts";
import type { Answer, Fields } from "../../core/http/message.ts";
import { missingKey } from "../../core/keys/authenticate.ts";
import { MAX_TIME } from "../../core/options.ts";

/** The answer that a fault gives in place of the true one. */
export interface FaultAnswer {
  /** 200 to 599. */
  readonly status: number;
  /** Header fields. `null` leaves a field out that would be there otherwise. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /**
   * The body, exactly, with no header fields but `headers`. Without it, an error of the contract has its Error body
   * and its fields; any other status needs a body, except 204, 205 and 304, which take none.
   */
  readonly body?: string;
}

/** What goes wrong, and with which request. It has one of `answer`, `lose`, `cut` and `drip`; or `delay`, alone or with one. */
export interface Fault {
  /**
   * The requests that it is for. Default: any. `path` has no query, and may be a template such as
   * `/v1/pets/{petId}`. The preflights of browsers are for faults alone whose `method` is `OPTIONS`.
   */
  readonly when?: { readonly method?: string; readonly path?: string };
  /** For how many requests. Default: 1. */
  readonly times?: number | "always";
  /** Time before the answer begins, after the work, in ms: 0 to 2147483647. It replaces the sandbox's own. */
  readonly delay?: number;
  readonly answer?: FaultAnswer;
  /** If true, the request is carried out before it is answered by `answer`, or lost. */
  readonly work?: boolean;
  /** Closes the connection without an answer. */
  readonly lose?: true;
  /** Breaks off the true answer after so many bytes of its body; one that is not longer is sent whole. */
  readonly cut?: number;
  /** Sends the body of the true answer at so many bytes a second. */
  readonly drip?: number;
}

/** Header fields that say where a message ends, or belong to the connection (RFC 9110 §7.6.1, RFC 9112 §6). */
const FRAMING =
  /^(?:connection|content-length|keep-alive|te|trailer|transfer-encoding|upgrade)$/i;

/** Statuses whose responses have no content (Fetch, "null body status"). */
const BODILESS: readonly number[] = [204, 205, 304];

/** By status, the code of the contract. */
const CODES: ReadonlyMap<number, ErrorCode> = new Map(
  Object.entries(ERROR_STATUS)
    .map(([code, status]) => [status, code as ErrorCode]),
);

function integer(
  least: number,
  most: number,
): v.GenericSchema<unknown, number> {
  return v.custom<number>(
    (value) =>
      Number.isSafeInteger(value) && Number(value) >= least &&
      Number(value) <= most,
    `must be an integer from ${least} to ${most}`,
  );
}

function members(what: string) {
  return (
    { expected, path }: {
      readonly expected: string | null;
      readonly path?: unknown;
    },
  ): string => {
    if (path === undefined) return `${what} must be a JSON object`;
    return expected === "never" ? "is unknown" : "is required";
  };
}

const fieldsSchema: v.GenericSchema<
  unknown,
  Readonly<Record<string, string | null>>
> = v.pipe(
  v.record(
    v.pipe(
      v.string(),
      v.regex(/^[\w!#$%&'*+.^`|~-]+$/, "is not the name of a header field"),
      v.check((name) => !FRAMING.test(name), "is set by the server alone"),
    ),
    v.nullable(
      v.pipe(
        v.string("must be a string, or null"),
        v.check(isFieldValue, "cannot be sent in a header"),
      ),
    ),
    "must be a JSON object",
  ),
);

const answerSchema: v.GenericSchema<unknown, FaultAnswer> = v.pipe(
  v.strictObject({
    status: integer(200, 599),
    headers: v.exactOptional(fieldsSchema),
    body: v.exactOptional(v.string("must be a string")),
  }, members("answer")),
  v.check(
    ({ status, body }) => !BODILESS.includes(status) || body === undefined,
    "has a status that takes no body",
  ),
  v.check(
    ({ status, body }) =>
      body !== undefined || BODILESS.includes(status) || CODES.has(status),
    "needs a body, because its status is no error of the contract",
  ),
);

const faultSchema: v.GenericSchema<unknown, Fault> = v.pipe(
  v.strictObject({
    when: v.exactOptional(v.strictObject({
      method: v.exactOptional(
        v.pipe(
          v.string("must be a string"),
          v.regex(/^[A-Z]+$/, "must be a method in capital letters"),
        ),
      ),
      path: v.exactOptional(
        v.pipe(
          v.string("must be a string"),
          v.regex(/^\/[^?#]*$/, "must begin with / and have no query"),
        ),
      ),
    }, members("when"))),
    times: v.exactOptional(
      v.union(
        [integer(1, Number.MAX_SAFE_INTEGER), v.literal("always")],
        'must be an integer of at least 1, or "always"',
      ),
    ),
    delay: v.exactOptional(integer(0, MAX_TIME)),
    answer: v.exactOptional(answerSchema),
    work: v.exactOptional(v.boolean("must be true or false")),
    lose: v.exactOptional(v.literal(true, "must be true")),
    cut: v.exactOptional(integer(0, Number.MAX_SAFE_INTEGER)),
    drip: v.exactOptional(integer(1, Number.MAX_SAFE_INTEGER)),
  }, members("a fault")),
  v.check(
    (fault) =>
      count(fault) === 1 || count(fault) === 0 && fault.delay !== undefined,
    "a fault must have one of answer, lose, cut and drip, or delay",
  ),
  v.check(
    ({ work, answer, lose }) => !work || (answer ?? lose) !== undefined,
    "work goes only with answer or lose",
  ),
);

function count({ answer, lose, cut, drip }: Fault): number {
  return [answer, lose, cut, drip].filter((one) => one !== undefined).length;
}

/**
 * Checks one fault or an array of them.
 *
 * @throws {TypeError} if one is wrong; the message names it, each member, and what is wrong with it.
 */
export function checkFaults(input: unknown): readonly Fault[] {
  const all: readonly unknown[] = Array.isArray(input) ? input : [input];
  return all.map((one, i) => {
    const check = v.safeParse(faultSchema, one);
    if (check.success) return structuredClone(check.output);
    const problems = check.issues.map((issue) =>
      `${v.getDotPath(issue) ?? ""} ${issue.message}`.trim()
    );
    const which = Array.isArray(input) ? `fault ${i + 1}` : "fault";
    throw new TypeError(`Cannot add ${which}: ${problems.join("; ")}`);
  });
}

/** Tells whether a fault is for a request. */
export function isFor(
  { when = {} }: Fault,
  { method, path, isPreflight }: {
    readonly method: string;
    readonly path: string;
    readonly isPreflight: boolean;
  },
): boolean {
  if (isPreflight && when.method === undefined) return false;
  return (when.method ?? method) === method &&
    (when.path === undefined || matches(when.path, path));
}

/** Tells whether a path is one, or of one template: a parameter stands for a segment that is not empty. */
export function matches(template: string, path: string): boolean {
  const segments = path.split("/");
  const parts = template.split("/");
  return parts.length === segments.length &&
    parts.every((part, i) =>
      part === segments[i] || /^\{.*\}$/.test(part) && segments[i] !== ""
    );
}

/** Tells whether a status is that of an error in the contract, which needs no body of the tester's. */
export function isContractError(status: number): boolean {
  return CODES.has(status);
}

/**
 * Makes the answer of the contract that a fault asks for; `fields` are those of all answers of the operation. After
 * the work there is no `Retry-After`, which says that nothing was changed.
 */
export function contractAnswer(
  { status, body }: FaultAnswer,
  { method, work = false, fields }: {
    readonly method: string;
    readonly work?: boolean | undefined;
    readonly fields?: Fields | undefined;
  },
): Answer {
  // Bytes, because a Response would add a Content-Type to text.
  if (body !== undefined) {
    return { status, headers: {}, body: new TextEncoder().encode(body) };
  }
  const code = CODES.get(status);
  if (code === undefined) return { status, headers: {}, body: null };
  const refusal = refusalOf(code, method, work);
  const { "retry-after": retryAfter, ...others } = refusal.headers;
  const kept = work || retryAfter === undefined
    ? others
    : { ...others, "retry-after": retryAfter };
  return { status, headers: { ...kept, ...fields }, body: refusal.body };
}

function refusalOf(code: ErrorCode, method: string, work: boolean): Refusal {
  const message = "The sandbox was told to answer so";
  switch (code) {
    case "unauthorized":
      return missingKey;
    case "method_not_allowed": {
      const allow = ["GET", "HEAD", "POST", "OPTIONS"]
        .filter((other) => other !== method).join(", ");
      return new Refusal(code, message, { allow });
    }
    case "unsupported_media_type":
      return new Refusal(code, message, { accept: "application/json" });
    case "too_many_requests":
      return tooManyRequests;
    case "internal_error":
      return internalError;
    case "service_unavailable":
      return work ? outcomeUnknown : unavailable(1);
    default:
      return new Refusal(code, message);
  }
}
