/**
 * Law: the OpenAPI document is true. What it allows is accepted, what it forbids is refused, and
 * every answer is declared. All bounds, names and values of the requests come from the document, so
 * an error in it makes a wrong request.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { memoryStorage } from "../../adapters/storage/memory/mod.ts";
import { anyBody, parseJson, whims, write } from "./any_body.ts";
import { ask, type Question } from "../contract/ask.ts";
import { handleService } from "../support/handle_service.ts";
import { fc, joined, patience, runs } from "../support/property.ts";
import {
  assertDeclared,
  errorsIn,
  integerBounds,
  type OperationDescription,
  OPERATIONS,
  type Parameter,
  parseText,
  resolve,
  type Schema,
} from "./openapi_schema.ts";
import { REX } from "../support/pets.ts";

/** A storage that has a pet with every id, and adds one whatever the idempotency key. */
function fullStorage(): ReturnType<typeof memoryStorage> {
  const storage = memoryStorage();
  return {
    ...storage,
    get: (id) => Promise.resolve({ id, ...REX }),
    create: (pet) => storage.create(pet),
  };
}

/** The status that must come; `2` for any of the class. */
function expectedStatus(
  { operation, address, expected }: Generated,
): 2 | 400 | 404 {
  if (operation.operationId !== "getPet") return expected;
  // The schema of an id allows any int64, but no pet has one below 1.
  const id = address.slice("/pets/".length);
  return /^[1-9][0-9]*$/.test(id) && BigInt(id) < 2n ** 63n ? expected : 404;
}

test(
  "the OpenAPI document is true: each request is answered as it says",
  { timeout: patience(1500) },
  async () => {
    const service = handleService({ storage: fullStorage() });
    await fc.assert(
      fc.asyncProperty(anyRequest(), async (request) => {
        const { address, question, operation } = request;
        const { method } = operation;
        const answer = await ask(service, method, address, question);
        const { status, text } = answer;
        const expected = expectedStatus(request);
        const actual = expected === 2 ? Math.floor(status / 100) : status;
        assert.equal(actual, expected, text);
        assertDeclared(answer, { operation, isHead: false });
      }),
      runs(1500),
    );
  },
);

/** A request, and the result that the document requires. */
interface Generated {
  /** The address below the base. */
  readonly address: string;
  readonly question: Question;
  readonly operation: OperationDescription;
  /** The status that must come: `2` for any of the class. */
  readonly expected: 2 | 400 | 404;
}

/** A parameter, and the texts that are sent for it. */
type Sent = readonly [parameter: Parameter, texts: readonly string[]];

/** Any request; the document allows about half of them. */
function anyRequest(): fc.Arbitrary<Generated> {
  return fc.oneof(...Object.values(OPERATIONS).map(requestTo));
}

function requestTo(
  operation: OperationDescription,
): fc.Arbitrary<Generated> {
  const { path, parameters = [], requestBody } = operation;
  const schema = requestBody?.content["application/json"]?.schema;
  const body = schema === undefined ? fc.constant(undefined) : bodies;
  return fc.tuple(fc.tuple(...parameters.map(anySent)), body).map(
    ([all, body]) => {
      const texts = (place: Parameter["in"]) =>
        all.filter(([parameter]) => parameter.in === place)
          .flatMap(([{ name }, texts]) => texts.map((text) => [name, text]));
      const wrong = all.filter((sent) => !isAllowed(sent))
        .map(([parameter]) => parameter.in);
      const isWrong = wrong.length > 0 ||
        (schema !== undefined && !isAllowedBody(schema, body));
      const [[, last = ""] = []] = texts("path");
      const query = texts("query").map((pair) =>
        pair.map((text) => encodeURIComponent(text)).join("=")
      ).join("&");
      const headers = Object.fromEntries(texts("header"));
      return {
        address: path.replace(/\{.*\}/, () => encodeURIComponent(last)) +
          (query && `?${query}`),
        question: body === undefined ? { headers } : { headers, body },
        operation,
        // A path that cannot be a pet's is unknown.
        expected: !isWrong ? 2 : wrong.includes("path") ? 404 : 400,
      };
    },
  );
}

/** A parameter is sent, or omitted if allowed; one of the query is sometimes sent twice. */
function anySent(parameter: Parameter): fc.Arbitrary<Sent> {
  const { name, in: place, required = false } = parameter;
  const text = anyText(resolve(parameter.schema))
    .filter((text) => SENDABLE[place].test(text))
    // The tag of any document: that is a 304.
    .filter((text) => name !== "If-None-Match" || text !== "*");
  const counts = place === "query" ? [0, 0, 1, 1, 1, 1, 2] : [0, 1, 1];
  return fc.constantFrom(...counts.filter((count) => !required || count === 1))
    .chain((length) => fc.array(text, { minLength: length, maxLength: length }))
    .map((texts) => [parameter, texts]);
}

function isAllowed([{ schema }, texts]: Sent): boolean {
  const resolved = resolve(schema);
  return texts.length < 2 &&
    texts.every((text) =>
      errorsIn(resolved, parseText(resolved, text)).length === 0
    );
}

/** Texts that can be sent in that place, and mean nothing else there. */
const SENDABLE: Readonly<Record<Parameter["in"], RegExp>> = {
  path: /^[^/.]+$/,
  query: /^/,
  header: /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/,
};

// Values of the contract, whatever the document says: a document that forbids them is noticed.
const KNOWN = ["available", "pending", "sold", "1", "9223372036854775807"];

/** Any text for a parameter, mostly a valid one, or nearly so. */
function anyText(schema: Schema): fc.Arbitrary<string> {
  const valid = schema.enum !== undefined
    ? fc.constantFrom(...schema.enum)
    : schema.pattern !== undefined
    ? fc.stringMatching(new RegExp(schema.pattern))
    : schema.type === "string"
    ? fc.string()
    : anyInteger(integerBounds(schema)).map(String);
  return fc.oneof(
    { weight: 20, arbitrary: valid },
    joined(
      fc.constantFrom("", "+", "-", "0", " ", "0x"),
      valid,
      fc.constantFrom("", ".0", "e0", " ", "n", ",1", "s"),
    ),
    valid.map((text) => text.toUpperCase()),
    fc.constantFrom(...KNOWN, "", "null", "true", "NaN", "Infinity", "1e1"),
    fc.string({ unit: "grapheme" }),
    ...(schema.pattern === undefined ? [] : [nearPattern]),
  );
}

/** Any integer within bounds, or next to them. */
function anyInteger(
  { min, max }: ReturnType<typeof integerBounds>,
): fc.Arbitrary<bigint> {
  return fc.oneof(
    fc.constantFrom(min - 1n, min, max, max + 1n),
    fc.bigInt({ min, max }),
  );
}

/** Texts that a pattern is likely to forbid. */
const nearPattern = fc.oneof(
  fc.constantFrom('"', '""', '"a', '"a"b', '"a"", "b"', '"\\a"', "a b", '" "'),
  fc.string({ unit: fc.constantFrom('"', "\\", "a") }),
  fc.constantFrom("a".repeat(256), `"${"a".repeat(256)}"`),
);

/** Any body, mostly JSON. No schema can require that a text is well-formed Unicode. */
const bodies = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.tuple(anyBody, whims).map(([body, whims]) =>
      write(body, whims)
    ).filter((body) => !/\\ud[89a-f]/i.test(body)),
  },
  fc.constantFrom("", "{", '{"name":"Rex","categoryId":1}x', "[{}"),
);

function isAllowedBody(schema: Schema, body = ""): boolean {
  try {
    return errorsIn(schema, parseJson(body)).length === 0;
  } catch {
    return false; // no JSON
  }
}
