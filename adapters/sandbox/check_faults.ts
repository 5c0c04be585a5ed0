/** Checks the faults that a tester sends. */

import * as v from "valibot";
import { isFieldValue, MAX_TIME } from "../../core/kit.ts";
import type { Fault, Framing } from "./fault.ts";
import { ERROR_CODES } from "./fault_answer.ts";
import { PATHS, routeOf } from "./match_fault.ts";

const FRAMINGS: readonly Framing[] = ["length", "chunked", "close"];

/**
 * Header fields that delimit a message, or belong to the connection (RFC 9112 §6, RFC 9110 §7.6.1).
 */
const OF_SERVER =
  /^(?:connection|content-length|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade)$/i;
/** Names that valibot drops from a record without a word. */
const DROPPED = ["__proto__", "constructor", "prototype"];
/** Statuses whose responses have no content (Fetch, "null body status"). */
const BODILESS = [204, 205, 304];
/** The methods that a client or a gateway may send. */
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

const { toString } = Object.prototype;
const text = v.string("must be a string");

function integer(least: number, most: number = Number.MAX_SAFE_INTEGER) {
  const message = `must be an integer from ${least} to ${most}`;
  return v.pipe(
    v.number(message),
    v.safeInteger(message),
    v.minValue(least, message),
    v.maxValue(most, message),
  );
}

/** An object that may have these members and no others. */
function members<Entries extends v.ObjectEntries>(entries: Entries) {
  const unknown = `is unknown; use ${Object.keys(entries).join(", ")}`;
  return v.partial(
    v.strictObject(
      entries,
      ({ path }) => path === undefined ? "must be a JSON object" : unknown,
    ),
  );
}

/** An object of any names that a check accepts. */
function record<Value>(
  value: v.GenericSchema<unknown, Value>,
  name: v.GenericSchema<string, string> = text,
) {
  return v.pipe(
    // Not an array, and not a Headers, whose fields are not its members.
    v.custom(
      (fields) => toString.call(fields) === "[object Object]",
      "must be a JSON object",
    ),
    v.check(
      (fields) => !DROPPED.some((name) => Object.hasOwn(Object(fields), name)),
      `cannot have a member ${DROPPED.join(", ")}`,
    ),
    v.record(name, value, "must be a JSON object"),
  );
}

const seconds = integer(0, 1e9);
const fieldName = v.pipe(
  text,
  v.regex(/^[\w!#$%&'*+.^`|~-]+$/, "is not the name of a header field"),
);
const fieldsSchema = v.pipe(
  record(
    v.lazy((value) =>
      typeof value === "object" && value !== null
        ? v.union(
          [v.strictObject({ in: seconds }), v.strictObject({ date: seconds })],
          'must be a string, null, or such as {"in":3} or {"date":3}, in seconds',
        )
        : v.nullable(v.pipe(text, v.check(isFieldValue, "cannot be sent")))
    ),
    v.pipe(
      fieldName,
      v.check((name) => !OF_SERVER.test(name), "is set by the server"),
    ),
  ),
  v.check(
    (fields) =>
      !Object.entries(fields).some(([name, value]) =>
        value === null && name.toLowerCase() === "date"
      ),
    "cannot remove Date: the server sends one",
  ),
);

const wanted = v.union(
  [v.string(), v.boolean()],
  "must be a string, true (any) or false (none)",
);
const whenSchema = members({
  method: v.picklist(METHODS, `must be one of ${METHODS.join(", ")}`),
  path: v.pipe(
    text,
    v.regex(/^[^?#]*$/, "must have no query"),
    v.check(
      (path) => routeOf(path) !== undefined,
      `must fit one of ${[...PATHS].join(", ")}`,
    ),
  ),
  query: record(wanted),
  headers: record(wanted, fieldName),
  key: text,
});

const answerSchema = v.pipe(
  members({
    status: integer(200, 599),
    headers: fieldsSchema,
    body: v.pipe(
      text,
      v.check(
        (body) => body.isWellFormed(),
        "must be well-formed Unicode, without lone surrogates",
      ),
    ),
  }),
  v.check(
    ({ status, headers, body }) =>
      status !== undefined || headers !== undefined && body === undefined,
    "needs a status, or headers alone",
  ),
  v.check(
    ({ status, body }) =>
      status === undefined || body !== undefined ||
      BODILESS.includes(status) || ERROR_CODES.has(status),
    "needs a body, because its status is not an error of the contract",
  ),
  v.check(
    ({ status, body }) => body === undefined || !BODILESS.includes(status ?? 0),
    "cannot have a body, because its status is 204, 205 or 304",
  ),
);

const faultSchema = v.pipe(
  members({
    when: whenSchema,
    times: v.union(
      [integer(1), v.literal("always")],
      'must be an integer of at least 1, or "always"',
    ),
    delay: integer(0, MAX_TIME),
    answer: answerSchema,
    work: v.boolean("must be true or false"),
    lose: v.literal(true, "must be true"),
    cut: integer(0),
    stall: integer(0),
    drip: integer(1),
    framing: v.picklist(FRAMINGS, `must be one of ${FRAMINGS.join(", ")}`),
    reset: v.boolean("must be true or false"),
  }),
  v.check(
    ({ delay, answer, lose, cut, stall, drip }) => {
      const kinds = [answer, lose, cut, stall, drip]
        .filter((kind) => kind !== undefined).length;
      return kinds === 1 || kinds === 0 && delay !== undefined;
    },
    "must have exactly one of answer, lose, cut, stall and drip, or delay alone",
  ),
  v.check(
    ({ work, answer, lose }) => work !== true || (answer ?? lose) !== undefined,
    "has work, which needs answer or lose",
  ),
  v.check(
    ({ framing, cut, stall, drip }) =>
      framing === undefined || (cut ?? stall ?? drip) !== undefined,
    "has framing, which needs cut, stall or drip",
  ),
  v.check(
    ({ reset, cut, lose }) => reset !== true || (cut ?? lose) !== undefined,
    "has reset, which needs lose or cut",
  ),
);

/**
 * @throws {TypeError} if one is wrong. The message names it, a wrong member, and the reason.
 */
export function checkFaults(faults: readonly unknown[]): readonly Fault[] {
  return faults.map((fault, i) => {
    const check = v.safeParse(faultSchema, fault, { abortEarly: true });
    if (check.success) return check.output as Fault; // a member that is undefined counts as missing
    const [issue] = check.issues;
    const member = v.getDotPath(issue) ?? "it";
    throw new TypeError(
      `Cannot add fault ${i + 1}: ${member} ${issue.message}`,
    );
  });
}
