import assert from "node:assert/strict";
import process from "node:process";
import test from "node:test";
import { memoryStorage } from "../../adapters/memory/mod.ts";
import { apiKeys } from "../../core/keys/api_keys.ts";
import { createHandler, type Handler } from "../../core/handler.ts";
import { parseBaseUrl } from "../../core/http/base_url.ts";
import type { ServiceRequest } from "../../core/http/message.ts";
import { petId } from "../../core/pets/pet.ts";
import {
  type PetPage,
  type PetQuery,
  type PetStorage,
  StorageError,
} from "../../core/pets/pet_storage.ts";
import { createService, type HandlerOptions } from "../../core/service.ts";
import { type Answer, ask } from "../contract/ask.ts";
import { assertError } from "../contract/error_reply.ts";
import { storageThat } from "../support/storage_that.ts";

const REX = '{"name":"Rex","categoryId":1}';
const SECRET = "SELECT * FROM pets; /etc/passwd; pet_key";

/** One request for each operation, which all reach the storage. */
const CALLS = [
  ["GET", "/pets", {}],
  ["POST", "/pets", { body: REX }],
  ["GET", "/pets/1", {}],
] as const;

/** A storage that lists this. */
function listing(list: (query: PetQuery) => unknown): PetStorage {
  return {
    ...memoryStorage(),
    list: (query) => Promise.resolve(list(query) as PetPage),
  };
}

function handler(options: Partial<HandlerOptions> = {}): Handler {
  return createHandler({
    storage: memoryStorage(),
    keys: apiKeys(["secret"]),
    ...options,
  });
}

function send(
  fetch: Handler,
  ...question: [string, string, { body?: string }?]
): Promise<Answer> {
  const [method, path, content = {}] = question;
  return ask(
    { fetch, base: "http://localhost/v1", key: "secret" },
    method,
    path,
    content,
  );
}

test("a body that was read before is a fault, and onError is told what to do", async () => {
  const causes: unknown[] = [];
  const handle = handler({ onError: (cause) => causes.push(cause) });
  const behindParser: Handler = (request) =>
    request.text().then(() => handle(request));
  await send(behindParser, "POST", "/pets", { body: REX });
  assert.match(String(causes), /mount the pet store before body parsers/);
});

/** Runs `act`, and fails where it leaves a rejection that nobody handles. */
async function withoutUnhandled(act: () => Promise<void>): Promise<void> {
  const unhandled: unknown[] = [];
  const note = (cause: unknown) => void unhandled.push(cause);
  process.on("unhandledRejection", note);
  try {
    await act();
    // Unhandled rejections are told of after the microtasks: let two turns pass.
    for (let turn = 0; turn < 2; turn++) {
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
  } finally {
    process.off("unhandledRejection", note);
  }
  assert.deepEqual(unhandled, []);
}

const CAUSES: readonly unknown[] = [
  undefined,
  null,
  0,
  "",
  SECRET,
  Symbol(SECRET),
  { message: SECRET, status: 200, kind: "unavailable" },
  () => SECRET,
  new Error(SECRET, { cause: new Error(SECRET) }),
  new RangeError(SECRET),
  new SyntaxError(SECRET),
  new Response(SECRET),
  new DOMException(SECRET, "AbortError"),
  new Proxy({}, {
    getPrototypeOf() {
      throw new Error(SECRET);
    },
  }),
];

/** The ways to fail with a cause. */
function failures(cause: unknown): readonly (() => Promise<never>)[] {
  return [
    () => {
      throw cause;
    },
    () => Promise.reject(cause),
  ];
}

test("handle answers 500 whatever a storage or the check of keys throws, and tells only onError", async () => {
  for (const cause of CAUSES) {
    for (const fail of failures(cause)) {
      const letIn = storageThat(() => assert.fail("let in"));
      for (
        const options of [{ storage: storageThat(fail) }, {
          storage: letIn,
          keys: { verify: fail },
        }]
      ) {
        const told: unknown[] = [];
        const fetch = handler({
          ...options,
          onError: (cause) => void told.push(cause),
        });
        for (const [method, path, content] of CALLS) {
          const answer = await send(fetch, method, path, content);
          assertError(answer, "internal_error");
          assertNoSecret(answer);
        }
        assert.equal(told.length, 3);
        for (const each of told) assert.ok(Object.is(each, cause));
      }
    }
  }
});

test("handle tells onError which request it was", async () => {
  const told: ServiceRequest[] = [];
  const fetch = handler({
    storage: storageThat(() => Promise.reject(new Error())),
    onError: (_cause, request) => void told.push(request),
  });
  const request = new Request("http://localhost/v1/pets", {
    headers: { authorization: "Bearer secret" },
  });
  await fetch(request);
  assert.equal(told.length, 1);
  assert.equal(told[0], request);
});

test("handle answers 503 with Retry-After where the storage is unavailable", async () => {
  const cause = new StorageError("unavailable", SECRET, { retryAfter: 7 });
  const told: unknown[] = [];
  const fetch = handler({
    storage: storageThat(() => Promise.reject(cause)),
    onError: (cause) => void told.push(cause),
  });
  for (const [method, path, content] of CALLS) {
    const answer = await send(fetch, method, path, content);
    const message = assertError(answer, "service_unavailable");
    assert.match(message, /nothing was changed/);
    assert.equal(answer.headers.get("retry-after"), "7");
    assertNoSecret(answer);
  }
  assert.deepEqual(told, [cause, cause, cause]);
});

test("handle says so, without Retry-After, where it is unknown whether the animal was added", async () => {
  const cause = new StorageError("outcome_unknown", SECRET);
  const fetch = handler({
    storage: storageThat(() => Promise.reject(cause)),
    onError: () => {},
  });
  const answer = await send(fetch, "POST", "/pets", { body: REX });
  const message = assertError(answer, "service_unavailable");
  assert.match(message, /Cannot tell whether the pet was added/);
  assert.doesNotMatch(message, /nothing was changed/);
  assert.equal(answer.headers.get("retry-after"), null);
  assertNoSecret(answer);
});

test("handle answers 500 where a storage returns what is no animal", async () => {
  const rex = { id: 1n, name: "Rex", categoryId: 1n, status: "sold" };
  const garbage: unknown[] = [
    null,
    0,
    1n,
    "pet",
    true,
    {},
    { ...rex, id: 1 },
    { ...rex, id: undefined },
    { ...rex, name: undefined },
    { ...rex, categoryId: "1" },
    { ...rex, status: undefined },
  ];
  for (const value of garbage) {
    const told: unknown[] = [];
    const onError = (cause: unknown) => void told.push(cause);
    const one = handler({
      storage: storageThat(() => Promise.resolve(value)),
      onError,
    });
    assertError(await send(one, "GET", "/pets/1"), "internal_error");
    assertError(
      await send(one, "POST", "/pets", { body: REX }),
      "internal_error",
    );
    const list = handler({
      storage: storageThat(() => Promise.resolve({ pets: [value] })),
      onError,
    });
    assertError(await send(list, "GET", "/pets"), "internal_error");
    assert.equal(told.length, 3);
    for (const cause of told) assert.ok(cause instanceof Error);
  }
});

test("handle answers 500 where a storage lists what is no page, or adds nothing", async () => {
  for (const value of [undefined, null, 0, "pets", {}, [], true, { pets: 1 }]) {
    const fetch = handler({
      storage: storageThat(() => Promise.resolve(value)),
      onError: () => {},
    });
    assertError(await send(fetch, "GET", "/pets"), "internal_error");
    assertError(
      await send(fetch, "POST", "/pets", { body: REX }),
      "internal_error",
    );
  }
});

test("handle links to the next page if the storage says that more match", async () => {
  const asked: PetQuery[] = [];
  const fetch = handler({
    storage: listing((query) => {
      asked.push(query);
      return { pets: [], ...asked.length === 1 && { last: petId(9n) } };
    }),
  });
  const first = await send(fetch, "GET", "/pets?limit=7&status=sold");
  assert.equal(
    first.headers.get("link"),
    '<?limit=7&status=sold&after=9>; rel="next"',
  );
  const second = await send(fetch, "GET", "/pets?after=9");
  assert.equal(second.headers.get("link"), null);
  assert.deepEqual(asked, [
    { limit: 7, status: "sold" },
    { limit: 20, after: 9n },
  ]);
});

test("handle answers 500 if the last id of a page is none", async () => {
  for (const last of [null, 0n, -1n, 2n ** 63n, 1.5, "x>; rel=evil", {}]) {
    const page = { pets: [], last };
    const fetch = handler({ storage: listing(() => page), onError: () => {} });
    assertError(await send(fetch, "GET", "/pets"), "internal_error");
  }
});

test("handle answers where onError throws or rejects, and leaves no rejection unhandled", async () => {
  await withoutUnhandled(async () => {
    for (const cause of CAUSES) {
      const hangs = () => new Promise<never>(() => {});
      for (const onError of [...failures(cause), hangs]) {
        const storage = storageThat(() => Promise.reject(new Error(SECRET)));
        const answer = await send(
          handler({ storage, onError }),
          "GET",
          "/pets",
        );
        assertError(answer, "internal_error");
        assertNoSecret(answer);
      }
    }
  });
});

test("a refusal is nothing that onError is told of", async () => {
  const fetch = handler({ onError: (cause) => assert.fail(`${cause}`) });
  assertError(await send(fetch, "GET", "/nothing"), "not_found");
  assertError(await send(fetch, "GET", "/pets?limit=0"), "bad_request");
  assertError(await send(fetch, "POST", "/pets", { body: "{" }), "bad_request");
  assertError(await send(fetch, "GET", "/pets/9"), "not_found");
});

test("handle leaves the body unread where it is not wanted", async () => {
  const refused = [
    ["POST", "/v1/nothing", "secret", 404],
    ["PUT", "/v1/pets", "secret", 405],
    ["POST", "/v1/pets", "wrong", 401],
  ] as const;
  for (const [method, path, key, status] of refused) {
    let pulls = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulls++;
        controller.enqueue(new Uint8Array(1));
      },
    }, { highWaterMark: 0 });
    const init = {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
      },
      body,
      duplex: "half",
    };
    const response = await handler()(
      new Request(`http://localhost${path}`, init),
    );
    assert.equal(response.status, status);
    assert.equal(pulls, 0);
  }
});

test("handle waits for a slow body as long as bodyTimeout says, 10 s by default", async () => {
  const after = (ms: number): ReadableStream<Uint8Array> =>
    new ReadableStream({
      async start(controller) {
        await new Promise((resolve) => setTimeout(resolve, ms));
        controller.enqueue(new TextEncoder().encode(REX));
        controller.close();
      },
    });
  const announced = { "content-length": `${REX.length}` };
  for (const headers of [{}, announced]) {
    for (
      const [ms, options, status] of [
        [100, {}, 201],
        [100, { bodyTimeout: 60_000 }, 201],
        [1000, { bodyTimeout: 100 }, 408],
      ] as const
    ) {
      const fetch = handler(options);
      const service = { fetch, base: "http://localhost/v1", key: "secret" };
      const question = { body: after(ms), headers };
      const answer = await ask(service, "POST", "/pets", question);
      assert.equal(answer.status, status, JSON.stringify(options));
    }
  }
});

test("handle throws at once if it was mounted as a listener of Node", () => {
  const request = { method: "GET", url: "/v1/pets", headers: {} };
  assert.throws(() => handler()(request as unknown as Request), {
    name: "TypeError",
    message: /mount toNodeListener/,
  });
});

test("createHandler refuses an option that it does not have, and names those it has", () => {
  const options = { basePath: "/v2" } as Partial<HandlerOptions>;
  assert.throws(() => handler(options), {
    name: "TypeError",
    message:
      /^Unknown option basePath: createHandler has storage, keys, baseUrl,/,
  });
  handler({ basePath: undefined } as Partial<HandlerOptions>);
});

test("createHandler throws a TypeError for an option of a wrong kind", () => {
  const wrong: Record<string, unknown>[] = [
    { storage: undefined },
    { storage: null },
    { storage: {} },
    { storage: { ...memoryStorage(), list: 1 } },
    { keys: undefined },
    { keys: ["secret"] },
    { baseUrl: 1 },
    { baseUrl: "v1" },
    { baseUrl: null },
    { onError: "log" },
  ];
  for (const options of wrong) {
    assert.throws(
      () => handler(options as Partial<HandlerOptions>),
      TypeError,
      JSON.stringify(options),
    );
  }
  const storage = Promise.resolve(memoryStorage()) as unknown as PetStorage;
  assert.throws(() => handler({ storage }), /storage: .* await it/);
  const keys = "secret" as unknown as readonly string[];
  assert.throws(() => apiKeys(keys), /^TypeError: API keys must be an array/);
});

test("createHandler throws a RangeError for a number out of bounds", () => {
  for (const value of [0, -1, 1.5, NaN, Infinity, 2 ** 53]) {
    assert.throws(() => handler({ maxBodyBytes: value }), RangeError);
    assert.throws(() => handler({ bodyTimeout: value }), RangeError);
  }
  assert.throws(() => handler({ bodyTimeout: 2 ** 31 }), RangeError);
  handler({ maxBodyBytes: 1, bodyTimeout: 2 ** 31 - 1 });
});

test("createService answers with data: the route too, and the cause of a fault", async () => {
  const cause = new Error(SECRET);
  const keys = apiKeys(["secret"]);
  const answer = (path: string, storage: PetStorage = memoryStorage()) =>
    createService({ storage, keys, baseUrl: parseBaseUrl("/v1") })(
      new Request(`http://localhost${path}`, {
        headers: { authorization: "Bearer secret" },
      }),
    );
  const missing = await answer("/v1/pets/7");
  assert.equal(missing.status, 404);
  assert.equal(missing.route, "/v1/pets/{petId}");
  assert.equal("cause" in missing, false);
  const unknown = await answer("/v1/other");
  assert.equal(unknown.status, 404);
  assert.equal(unknown.route, undefined);
  const failed = await answer(
    "/v1/pets",
    storageThat(() => Promise.reject(cause)),
  );
  assert.equal(failed.status, 500);
  assert.equal(failed.route, "/v1/pets");
  assert.equal(failed.cause, cause);
});

test("a key is valid only where verify answers true, not something like it", async () => {
  for (const answer of [false, undefined, null, "", 1, "yes", {}, [true]]) {
    const verify = () => Promise.resolve(answer as unknown as boolean);
    const fetch = handler({ keys: { verify } });
    assertError(await send(fetch, "GET", "/pets"), "unauthorized");
  }
});

function assertNoSecret({ text, headers }: Answer): void {
  for (const shown of [text, ...headers.values()]) {
    assert.doesNotMatch(shown, /SELECT|passwd|pet_key/);
  }
}
