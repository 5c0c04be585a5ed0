/**
 * Law: the service answers each exchange of the book, and those that need their own service,
 * exactly with the message given there, and as its OpenAPI document declares. The document declares
 * nothing else.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { isDeepStrictEqual } from "node:util";
import { memoryStorage } from "../../adapters/storage/memory/mod.ts";
import { StorageError } from "../../core/pets/pet_storage.ts";
import type { HandlerOptions } from "../../adapters/handler_options.ts";
import { type Answer, ask } from "../contract/ask.ts";
import { exchange, EXCHANGES, type Sent } from "../contract/exchanges.ts";
import { PetsClient } from "../contract/pets_client.ts";
import { handleService, storageThat } from "../support/handle_service.ts";
import { REX, REX_JSON } from "../support/pets.ts";
import {
  assertDeclared,
  namedErrors,
  type OperationDescription,
  OPERATIONS,
} from "./openapi_schema.ts";

/** A request, and options of the service that receives it. */
interface Trial extends Sent {
  readonly options?: Partial<HandlerOptions>;
}

function failing(error: Error): Trial {
  return { options: { storage: storageThat(() => Promise.reject(error)) } };
}

function streamed(
  start: (controller: ReadableStreamDefaultController<Uint8Array>) => void,
): Trial {
  return { body: () => new ReadableStream({ start }) };
}

const counted = { ratelimit: '"key";r=4;t=10', "ratelimit-policy": "k" };
const rateLimit = () => ({
  allowed: false,
  headers: { "retry-after": "1", ...counted },
});
const USED = { "idempotency-key": '"used"' };
const BAD_HOST = { headers: { host: "a/b" } };

/** Calls each operation that needs a key. */
function each(trial: Trial): readonly Trial[] {
  const calls = [{}, { line: "GET /pets" }, { line: "GET /pets/7" }];
  return calls.map((call) => ({ ...call, ...trial }));
}

/** What else a service answers that has seven pets, or is set up otherwise. */
// deno-fmt-ignore -- a table
const OTHERS: Readonly<Record<string, readonly Trial[]>> = {
  "200": ["/pets?limit=1", "/pets?after=6", "/pets/7", "/openapi.json"].map((path) => ({ line: `GET ${path}` })),
  "201": [{ headers: USED, body: REX_JSON }],
  "304": ["GET", "HEAD"].map((method) => ({ line: `${method} /openapi.json`, headers: { "if-none-match": "*" } })),
  "400 Cannot read the request: the Host header must be a host name or address, with or without a port": [
    ...each(BAD_HOST),
    { line: "GET /openapi.json", ...BAD_HOST },
  ],
  "400 Cannot read the body: its Transfer-Encoding must be chunked": [{}, { "content-length": `${REX_JSON.length}` }].flatMap((length) =>
    ["gzip, chunked", ""].map((coding) => ({ headers: { "transfer-encoding": coding, ...length } }))
  ),
  "400 Cannot read the body: it was cut short": [streamed((controller) => controller.error())],
  '404 Cannot get pet: no pet has the id "8"': [{ line: "GET /pets/8" }],
  "405 Method not allowed on /v1/pets; allowed: GET, HEAD, POST, OPTIONS": [{ line: "PUT /pets" }],
  "405 Method not allowed on /v1/pets/{petId}; allowed: GET, HEAD, OPTIONS": [{ line: "PUT /pets/7" }],
  "405 Method not allowed on /v1/openapi.json; allowed: GET, HEAD, OPTIONS": [{ line: "PUT /openapi.json" }],
  "408 Cannot read the body: it did not arrive in time": [{ ...streamed(() => {}), options: { bodyTimeout: 1 } }],
  "413 Cannot read the body: it has more than 7 bytes": [{ options: { maxBodyBytes: 7 } }],
  "413 Cannot read the body: it came in more than 256 tiny pieces": [streamed((controller) => {
    for (let i = 0; i < 257; i++) controller.enqueue(Uint8Array.of(0x20));
  })],
  "422 Cannot create pet: its Idempotency-Key was sent before with another pet; use a new key for each pet": [{ headers: USED }],
  "429 Too many requests: wait as long as Retry-After says. Nothing was changed": each({ options: { rateLimit } }),
  "500 Something went wrong on our side": each(failing(new Error("secret"))),
  "503 Cannot reach the storage now: nothing was changed, and the request can be sent again":
    each(failing(new StorageError("unavailable", "secret"))),
  "503 Cannot tell whether the pet was added: the storage did not confirm it. Send it again if it had an Idempotency-Key; otherwise list the pets first":
    [failing(new StorageError("outcome_unknown", "secret"))],
};

/** Requests, the answer that they get, and the rule that says so. */
const rows: readonly (readonly [string, string, readonly Trial[]])[] = Object
  .entries({ ...EXCHANGES, "other exchanges": OTHERS })
  .flatMap(([rule, exchanges]) =>
    Object.entries(exchanges).map(([said, all]) => [rule, said, all] as const)
  );

for (const [rule, said, trials] of rows) {
  test(`${rule}: ${said}`, async () => {
    for (const trial of trials) {
      const { answer, told } = await tryOut(trial);
      const { status, headers, text } = answer;
      const { message = "" } = status < 400 ? {} : JSON.parse(text);
      const [number = "", ...words] = said.split(" ");
      const isSaid = status >= 400 && words.length > 0;
      const is = isSaid ? `${status} ${message}` : `${status}`;
      assert.deepEqual([trial, is], [trial, isSaid ? said : number]);
      assert.equal(told, status < 500 ? 0 : 1, "no refusal is an error");
      const isCoded = message.endsWith("without a Content-Encoding");
      const coding = headers.get("accept-encoding");
      assert.equal(coding, isCoded ? "identity" : null, `${trial}`);
      for (const operation of operationsOf(trial, status)) {
        assertDeclared(answer, { operation, isHead: false });
        // What needs no key, or is refused before the key is known, is not counted.
        const isCounted = operation.security === undefined &&
          !/^(?:401|405)|the Host header/.test(is);
        assert.equal(headers.has("ratelimit"), isCounted, "ratelimit");
      }
    }
  });
}

test("the OpenAPI document declares no example, error or header field in vain", async () => {
  const came = new Set<string>();
  for (const trial of rows.flatMap(([, , trials]) => trials)) {
    const { status, headers, text } = (await tryOut(trial)).answer;
    for (const { operationId, responses } of operationsOf(trial, status)) {
      const place = `${status}` in responses ? `${status}` : "default";
      came.add(`${operationId} ${status}`).add(`${operationId} ${place}`);
      for (const field of headers.keys()) {
        came.add(`${operationId} ${place} ${field}`);
      }
      const { example } = responses[place]?.content?.["application/json"] ?? {};
      if (text !== "" && isDeepStrictEqual(JSON.parse(text), example)) {
        came.add(`${operationId} ${place} example`);
      }
    }
  }
  // A server adds these: tests/adapters/standalone/limits_test.ts and log_test.ts.
  const ofServers = / x-request-id$| 401 ratelimit/;
  const missing = declared().filter((what) =>
    !came.has(what) && !ofServers.test(what)
  );
  // The document is kept in memory, so nothing sent from outside makes it fail.
  const unseen = ["getOpenApi 500", "getOpenApi default"];
  const advice =
    "add requests to tests/laws/exchanges_test.ts, or remove the response that no request can get, for";
  const toAdd = missing.filter((what) => !unseen.includes(what));
  assert.deepEqual(toAdd, [], `${advice} ${toAdd.join(", ")}`);
  assert.deepEqual(missing, unseen);
});

/** The operation that a request calls; for another method, all operations of its path. */
function operationsOf(
  { line = "POST /pets" }: Sent,
  status: number,
): readonly OperationDescription[] {
  const [method, address = ""] = line.split(" ");
  const sent = address.replace(/\?.*/, "");
  const all = Object.values(OPERATIONS);
  const path = all.some(({ path }) => path === sent)
    ? sent
    : sent.replace(/^\/pets\/[^/]+$/, "/pets/{petId}");
  return all.filter((operation) =>
    operation.path === path && (operation.method === method || status === 405)
  );
}

/** The statuses, header fields and examples of each operation. */
function declared(): readonly string[] {
  return Object.values(OPERATIONS).flatMap((operation) => {
    const { operationId, responses } = operation;
    const named = namedErrors(operation);
    assert.deepEqual(named.filter((status) => status in responses), []);
    const own = Object.entries(responses).flatMap(
      ([status, { headers = {}, content }]) => [
        status,
        ...Object.keys(headers).map((name) =>
          `${status} ${name.toLowerCase()}`
        ),
        ...content?.["application/json"]?.example === undefined
          ? []
          : [`${status} example`],
      ],
    );
    return [...named, ...own].map((what) => `${operationId} ${what}`);
  });
}

/** Sends a request to a service that has seven pets named Rex, and counts what it reports. */
async function tryOut(
  { options, ...sent }: Trial,
): Promise<{ readonly answer: Answer; readonly told: number }> {
  const storage = memoryStorage();
  const rex = { body: REX_JSON, headers: USED };
  await ask(handleService({ storage }), "POST", "/pets", rex);
  for (let i = 1; i < 7; i++) await storage.create(REX);
  let told = 0;
  const service = handleService({
    storage,
    onError: () => void told++,
    rateLimit: () => ({ allowed: true, headers: counted }),
    ...options,
  });
  const answer = await exchange(new PetsClient(service), sent);
  return { answer, told };
}
