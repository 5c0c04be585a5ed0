/**
 * A `Response` that costs Node next to nothing.
 *
 * @module
 */

import { delegate } from "./delegate.ts";

/** What a {@linkcode NodeResponse} was made of, while it is no real `Response`. */
export interface ResponseParts {
  /** 200 to 599. */
  readonly status: number;
  /** Names and values in turn. */
  readonly fields: readonly string[];
  /** Text, which is sent as UTF-8. */
  readonly body: string | null;
}

/** Names and values without a character that needs a closer look (RFC 9110 §5.1, §5.5). */
const FIELD_NAME = /^[\w-]+$/;
const FIELD_VALUE = /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/;

/**
 * Keeps status, header and text as they are given. Looking at `headers` makes real `Headers`; asking
 * for anything rarer than `status` and `ok`, a real `Response`.
 */
class LazyResponse {
  readonly #status: number = 200;
  readonly #fields: readonly string[] = [];
  readonly #body: string | null = null;
  #headers: Headers | undefined;
  #response: Response | undefined;

  constructor(body?: BodyInit | null, init?: ResponseInit) {
    const fields = simpleFields(init?.headers);
    const status = init?.status ?? 200;
    if (
      fields === undefined || !isSimple(body, status) || init?.statusText
    ) {
      this.#response = new Response(body, init);
      return;
    }
    this.#status = status;
    this.#body = body ?? null;
    this.#fields = typeof body === "string" && !hasField(fields, "content-type")
      ? [...fields, "content-type", "text/plain;charset=UTF-8"]
      : fields;
  }

  get status(): number {
    return this.#response?.status ?? this.#status;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status <= 299;
  }

  get headers(): Headers {
    return this.#headers ??= this.#response?.headers ??
      new Headers(pairs(this.#fields));
  }

  clone(): Response {
    const { body, status, statusText } = this.#become().clone();
    return new Response(body, { status, statusText, headers: this.headers });
  }

  /** The parts, while they are all there is of it. */
  static parts(response: unknown): ResponseParts | undefined {
    if (typeof response !== "object" || response === null) return;
    if (!(#response in response) || response.#response !== undefined) return;
    return {
      status: response.#status,
      fields: response.#headers === undefined
        ? response.#fields
        : [...response.#headers].flat(),
      body: response.#body,
    };
  }

  #become(): Response {
    return this.#response ??= new Response(this.#body, {
      status: this.#status,
      headers: this.headers,
    });
  }

  static {
    delegate(
      LazyResponse.prototype,
      Response.prototype,
      (self) => (self as LazyResponse).#become(),
    );
    // Response.json(), redirect() and error() make real ones.
    Object.setPrototypeOf(LazyResponse, Response);
  }
}

/**
 * A `Response` that Node sends without making a real one, which costs as much as the rest of a small
 * answer. It is one in every other respect, and becomes real where it has to.
 *
 * ```ts
 * import { NodeResponse } from "./mod.ts";
 * import assert from "node:assert/strict";
 *
 * const response = new NodeResponse("[]", { headers: { "content-type": "application/json" } });
 * assert.ok(response instanceof Response);
 * assert.deepEqual(await response.json(), []);
 * ```
 *
 * Only text (or no body) with the header as a plain object is sent that way.
 */
export const NodeResponse: typeof Response =
  // What the class does not declare, it has from delegate() and setPrototypeOf().
  LazyResponse as unknown as typeof Response;

/** The parts of a {@linkcode NodeResponse}; `undefined` where it became real, or is another object. */
export function responseParts(response: unknown): ResponseParts | undefined {
  return LazyResponse.parts(response);
}

function isSimple(
  body: BodyInit | null | undefined,
  status: number,
): body is string | null | undefined {
  if (!Number.isInteger(status) || status < 200 || status > 599) return false;
  if (body === null || body === undefined) return true;
  // Those that have no body refuse one (Fetch §2.2.3), and a real Response says so.
  return typeof body === "string" && status !== 204 && status !== 205 &&
    status !== 304;
}

const NO_FIELDS: readonly string[] = [];

/** The fields of headers that nobody can change any more. */
const constantFields = new WeakMap<object, readonly string[]>();

/**
 * Does what {@linkcode readFields} does, once for an object that is frozen: to look at four fields
 * takes 0.2 µs, to find what came of it a tenth of that.
 */
function simpleFields(
  headers: HeadersInit | undefined,
): readonly string[] | undefined {
  if (headers === undefined) return NO_FIELDS;
  const known = constantFields.get(headers);
  if (known !== undefined) return known;
  const fields = readFields(headers);
  if (fields !== undefined && isConstant(headers)) {
    constantFields.set(headers, fields);
  }
  return fields;
}

function isConstant(headers: object): boolean {
  if (!Object.isFrozen(headers)) return false;
  // A getter may say something else the next time.
  return Object.values(Object.getOwnPropertyDescriptors(headers))
    .every((member) => member.get === undefined);
}

/** Names and values in turn; `undefined` where only a real `Headers` can tell what they come to. */
function readFields(headers: HeadersInit): readonly string[] | undefined {
  if (Object.getPrototypeOf(headers) !== Object.prototype) return undefined;
  const fields: string[] = [];
  const record = headers as Record<string, unknown>;
  for (const name of Object.keys(record)) {
    const value = record[name];
    if (!FIELD_NAME.test(name)) return undefined;
    if (typeof value !== "string" || !FIELD_VALUE.test(value)) return undefined;
    fields.push(name, value);
  }
  return fields;
}

function hasField(fields: readonly string[], name: string): boolean {
  for (let i = 0; i < fields.length; i += 2) {
    const field = fields[i] ?? "";
    if (field.length === name.length && field.toLowerCase() === name) {
      return true;
    }
  }
  return false;
}

function pairs(fields: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    pairs.push([fields[i] ?? "", fields[i + 1] ?? ""]);
  }
  return pairs;
}
