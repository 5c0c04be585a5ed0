/** Every constant message that reaches clients from `core/http` and `core/keys`, as it is sent. */
import assert from "node:assert/strict";
import test from "node:test";
import { memoryStorage } from "../../adapters/memory/mod.ts";
import { shuttingDown } from "../../core/http/refusal.ts";
import { apiKeys } from "../../core/keys/api_keys.ts";
import type { ServiceRequest } from "../../core/operation.ts";
import { type PetStorage, StorageError } from "../../core/pets/pet_storage.ts";
import { createService, type ServiceOptions } from "../../core/service.ts";

type Fields = Readonly<Record<string, string | undefined>>;

/** What is told apart: the request's URL, its header fields, its body in pieces, the options. */
interface Trial {
  readonly method?: string;
  readonly url?: string;
  readonly headers?: Fields;
  readonly pieces?: readonly string[];
  readonly end?: "close" | "error" | "wait";
  readonly options?: Partial<ServiceOptions>;
}

const BODY = "Cannot read the body: it ";

const trials: readonly (readonly [status: number, string, Trial])[] = [
  [
    400,
    "Cannot read the request: the Host header must be a host name or address, with or without a port",
    { headers: { host: "a/b" } },
  ],
  [
    400,
    "Cannot read the request: its target must be a path or an http address",
    { url: "x" },
  ],
  [
    404,
    "Cannot find this path: the service has /v1/pets and /v1/pets/{petId}, described at /v1/openapi.json",
    { url: "/v1/x" },
  ],
  [
    405,
    "Cannot use this method on /v1/pets: it has GET, HEAD, POST, OPTIONS",
    { method: "PUT" },
  ],
  [
    401,
    'API key is missing: send it in the header "Authorization: Bearer <API_KEY>"',
    { headers: { authorization: undefined } },
  ],
  [
    401,
    "API key is invalid: it is unknown or revoked",
    { headers: { authorization: "Bearer wrong" } },
  ],
  [
    429,
    "Too many requests: wait as long as Retry-After says. Nothing was changed",
    { options: { rateLimit: () => Promise.resolve({}) } },
  ],
  [
    415,
    "Cannot read the body: its Content-Type must be application/json, in UTF-8",
    { headers: { "content-type": "text/plain" } },
  ],
  [
    415,
    "Cannot read the body: it must be sent without a Content-Encoding",
    { headers: { "content-encoding": "gzip" } },
  ],
  [
    400,
    "Cannot read the body: its Transfer-Encoding must be chunked",
    { headers: { "transfer-encoding": "gzip, chunked" } },
  ],
  [400, `${BODY}is missing`, { pieces: [] }],
  [408, `${BODY}did not arrive in time`, {
    end: "wait",
    options: { bodyTimeout: 1 },
  }],
  [400, `${BODY}was cut short`, { end: "error" }],
  [400, `${BODY}is not valid UTF-8`, { pieces: ["\xff"] }],
  [400, "Cannot read the body: its JSON is nested too deeply", {
    pieces: ["[".repeat(100_000) + "]".repeat(100_000)],
    options: { maxBodyBytes: 1_000_000 },
  }],
  [400, `${BODY}is not valid JSON`, { pieces: ["{"] }],
  [413, `${BODY}came in more than 256 pieces`, {
    pieces: Array<string>(257).fill(" "),
  }],
  [413, `${BODY}has more than 7 bytes`, { options: { maxBodyBytes: 7 } }],
  [500, "Something went wrong on our side", {
    options: { storage: failing(new Error("secret")) },
  }],
  [
    503,
    "Cannot reach the storage now: nothing was changed, and the request can be sent again",
    {
      options: { storage: failing(new StorageError("unavailable", "secret")) },
    },
  ],
  [
    503,
    "Cannot tell whether the pet was added: the storage did not confirm it. List the pets before sending it again",
    {
      options: {
        storage: failing(new StorageError("outcome_unknown", "secret")),
      },
    },
  ],
];

function failing(error: Error): PetStorage {
  return { ...memoryStorage(), create: () => Promise.reject(error) };
}

function request(trial: Trial): ServiceRequest {
  const { method = "POST", url = "/v1/pets", headers, end = "close" } = trial;
  const { pieces = ['{"name":"Rex","categoryId":1}'] } = trial;
  const fields: Fields = { authorization: "Bearer secret", ...headers };
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      for (const piece of pieces) {
        const bytes = Array.from(piece, (unit) => unit.charCodeAt(0));
        controller.enqueue(Uint8Array.from(bytes));
      }
      if (end === "close") controller.close();
      if (end === "error") controller.error(new Error("secret"));
    },
  });
  return {
    method,
    url,
    headers: { get: (name) => fields[name] ?? null },
    body,
    bodyUsed: false,
    arrayBuffer: () => new Response(body).arrayBuffer(),
  };
}

for (const [status, message, trial] of trials) {
  test(`the service says: ${message}`, async () => {
    const answer = await createService({
      storage: memoryStorage(),
      keys: apiKeys(["secret"]),
      ...trial.options,
    })(request(trial));
    const { code: _, ...error } = JSON.parse(`${answer.reply.body}`);
    assert.deepEqual(error, { message, status });
  });
}

test("a server that is shutting down says so", () => {
  assert.equal(
    shuttingDown.message,
    "Cannot take the request: the server is shutting down. Nothing was changed, and it can be sent again",
  );
});
