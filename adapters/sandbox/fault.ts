/** The faults that a tester can cause, and how they are checked. */

import * as v from "valibot";
import {
  type Answer,
  createRouter,
  ERROR_STATUS,
  type ErrorCode,
  type Fields,
  isFieldValue,
  MAX_TIME,
  missingKey,
  noAnswer,
  normalizePath,
  operationsOf,
  parseBaseUrl,
  Refusal,
} from "../../core/kit.ts";

/**
 * The value of a header field that names a time: so many seconds after the answer begins, as a
 * number (`in`) or as a date, rounded up (`date`), the two forms of `Retry-After` (RFC 9110
 * §10.2.3).
 */
export type FaultTime = { readonly in: number } | { readonly date: number };

/** The answer that a fault sends instead of the true one, or how it changes the true one. */
export interface FaultAnswer {
  /** 200 to 599. If it is omitted, the true answer is sent, with `headers` changed. */
  readonly status?: number;
  /**
   * Header fields. In a text `{other}` is replaced by the origin of another host, such as
   * `http://localhost:8080`. `null` removes a field that would otherwise be there, except for
   * `Date`.
   */
  readonly headers?: Readonly<Record<string, string | FaultTime | null>>;
  /**
   * The exact body, without the contract's header fields. If it is omitted, an error of the
   * contract gets its Error body and fields. Any other status needs a body, except for 204, 205 and
   * 304, which cannot have one.
   */
  readonly body?: string;
}

/** A value that a request must have: this one, any (`true`), or none (`false`). */
export type Wanted = string | boolean;

/** The requests that a fault applies to. They must match each member that is given. */
export interface FaultWhen {
  /** Such as `POST`. Only if it is `OPTIONS`, the fault applies to a browser's preflight. */
  readonly method?: string;
  /** A path of the service, without a query, or a template such as `/v1/pets/{petId}`. */
  readonly path?: string;
  /** Query parameters, decoded: `{"after":true}` is any page but the first. */
  readonly query?: Readonly<Record<string, Wanted>>;
  /** Header fields, by name in any case: `{"idempotency-key":false}`. */
  readonly headers?: Readonly<Record<string, Wanted>>;
  /** The API key. */
  readonly key?: string;
}

/**
 * What goes wrong, and for which requests. It has one of `answer`, `lose`, `cut`, `stall` and
 * `drip`, or `delay`, or both.
 */
export interface Fault {
  /**
   * The requests that it applies to. Default: any of an operation with a valid key, so none that is
   * answered 401, 405 or 404 for its path, no `HEAD`, `OPTIONS`, or request for the document.
   */
  readonly when?: FaultWhen;
  /** How many requests it applies to. Default: one. */
  readonly times?: number | "always";
  /**
   * Delay before the answer begins, after the work, in ms: 0 to 2147483647. It replaces the
   * sandbox's own.
   */
  readonly delay?: number;
  /** Sends this answer instead of the service's, or changes the header fields of the service's. */
  readonly answer?: FaultAnswer;
  /**
   * If true, the request is carried out before `answer` is sent or the answer is lost. Default:
   * false.
   */
  readonly work?: boolean;
  /** Closes the connection without an answer. */
  readonly lose?: true;
  /**
   * Breaks off the true answer after this many bytes of its body. A body that is not longer is sent
   * whole, although the journal has the fault.
   */
  readonly cut?: number;
  /**
   * Sends the true answer up to this many bytes of its body and then no more, but leaves the
   * connection open. A body that is not longer is sent whole, although the journal has the fault.
   */
  readonly stall?: number;
  /** Sends the body of the true answer at this many bytes per second: 1 or more. */
  readonly drip?: number;
  /**
   * How a client learns the length of a body that is cut, stalls or drips: from `Content-Length`,
   * from `chunked`, or because the connection closes, as in HTTP/1.0 (RFC 9112 §6.3). A client
   * cannot notice a cut with `close`. Default: `length`.
   */
  readonly framing?: Framing;
  /** If true, the connection of `lose` or `cut` is reset (TCP RST), not closed. */
  readonly reset?: boolean;
}

/** How the length of a body is known. */
export type Framing = "length" | "chunked" | "close";

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
/** Header fields of errors, as the service sends them. */
const ERROR_FIELDS: Readonly<Partial<Record<ErrorCode, Fields>>> = {
  unauthorized: missingKey.headers,
  method_not_allowed: { allow: "OPTIONS" },
  unsupported_media_type: { accept: "application/json" },
  too_many_requests: { "retry-after": "1" },
  service_unavailable: { "retry-after": "1" },
};
/** The methods that a client or a gateway may send. */
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
/** The operations at their paths, with the header fields of all their answers. */
const ROUTES = operationsOf({ hasGetPet: true }).map((
  { method, path, isPublic = false, fields = () => ({}) },
) => ({
  method,
  path: `/v1${path}`,
  isPublic,
  fields: fields(parseBaseUrl("/v1")),
}));
const findRoute = createRouter(ROUTES);
const PATHS = new Set(ROUTES.map(({ path }) => path));
/** The errors of the contract, by status. */
export const ERROR_CODES: ReadonlyMap<number, ErrorCode> = new Map(
  (Object.keys(ERROR_STATUS) as ErrorCode[])
    .map((code) => [ERROR_STATUS[code], code]),
);

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

/** The operation `GET` of a path or template; each has one. */
function routeOf(path: string) {
  const found = findRoute("GET", path);
  return found && "endpoint" in found ? found.endpoint : undefined;
}

/** A request, as far as `when` looks at it. */
export interface Arrived {
  readonly method: string;
  /** Normal, without the query. */
  readonly path: string;
  /** Still encoded. */
  readonly query: string;
  readonly headers: Pick<Headers, "get">;
  /** The API key; `undefined` if it is not valid. */
  readonly key: string | undefined;
  /** False after the removal of `getPet`. */
  readonly getPet: boolean;
}

/** The operation that a request is for, if any. */
function operationOf({ method, path, getPet }: OperationRequest) {
  const found = findRoute(method, path);
  if (found === undefined || !("parameter" in found)) return undefined;
  return getPet || found.parameter === "" ? found.endpoint : undefined;
}
type OperationRequest = Pick<Arrived, "method" | "path" | "getPet">;

/** Tells whether a fault applies to a request. */
export function appliesTo({ when }: Fault, request: Arrived): boolean {
  const { method, path, headers, key } = request;
  if (when === undefined || Object.keys(when).length === 0) {
    return operationOf(request)?.isPublic === false && method !== "HEAD" &&
      key !== undefined;
  }
  const isPreflight = method === "OPTIONS" &&
    headers.get("access-control-request-method") !== null;
  const query = new URLSearchParams(request.query);
  return (when.method === undefined ? !isPreflight : when.method === method) &&
    matches(when.path ?? path, path) &&
    (when.key ?? key) === key &&
    hasAll(when.query, (name) => query.getAll(name)) &&
    hasAll(when.headers, (name) => [headers.get(name) ?? []].flat());
}

/** Tells whether the values that a request has for each name are as wanted. */
function hasAll(
  wanted: Readonly<Record<string, Wanted>> = {},
  valuesOf: (name: string) => readonly string[],
): boolean {
  return Object.entries(wanted).every(([name, value]) => {
    const values = valuesOf(name);
    return typeof value === "string"
      ? values.includes(value)
      : value === values.length > 0;
  });
}

/** Tells whether a normal path is this one, however it is written, or fits this template. */
export function matches(wanted: string, path: string): boolean {
  return normalizePath(wanted) === path ||
    wanted.endsWith("}") && routeOf(wanted) === routeOf(path);
}

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
