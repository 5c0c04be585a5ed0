/** Every constant message that reaches clients from `core/http` and `core/keys`, as it is sent. */
import assert from "node:assert/strict";
import test from "node:test";
import { memoryStorage } from "../../adapters/storage/memory/mod.ts";
import { shuttingDown } from "../../core/http/refusal.ts";
import { StorageError } from "../../core/pets/pet_storage.ts";
import type { HandlerOptions } from "../../core/handler.ts";
import { handleService } from "../support/handle_service.ts";
import { REX_JSON } from "../support/pets.ts";

/** Makes a create wrong. */
interface Trial {
  readonly method?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: BodyInit | null;
  readonly options?: Partial<HandlerOptions>;
}

function body(
  start: (controller: ReadableStreamDefaultController<Uint8Array>) => void,
): Trial {
  return { body: new ReadableStream({ start }) };
}

function failing(error: Error): Trial {
  const create = () => Promise.reject(error);
  return { options: { storage: { ...memoryStorage(), create } } };
}

// deno-fmt-ignore -- a table
const trials: Readonly<Record<string, Trial>> = {
  "400 Cannot read the request: the Host header must be a host name or address, with or without a port": { headers: { host: "a/b" } },
  "400 Cannot read the request: its target must be a path or an http address": { url: "x" },
  "404 Cannot find this path: /v1/openapi.json describes those of the service": { url: "/v1/x" },
  "405 Method not allowed on /v1/pets; allowed: GET, HEAD, POST, OPTIONS": { method: "PUT" },
  '401 API key is missing: send it in the header "Authorization: Bearer <API_KEY>"': { headers: { authorization: "" } },
  "401 API key is invalid: it is unknown, expired or revoked": { headers: { authorization: "Bearer wrong" } },
  "429 Too many requests: wait as long as Retry-After says. Nothing was changed": { options: { rateLimit: () => Promise.resolve({ allowed: false, headers: {} }) } },
  "415 Cannot read the body: its Content-Type must be application/json, in UTF-8": { headers: { "content-type": "text/plain" } },
  "415 Cannot read the body: it must be sent without a Content-Encoding": { headers: { "content-encoding": "gzip" } },
  "400 Cannot read the body: its Transfer-Encoding must be chunked": { headers: { "transfer-encoding": "gzip, chunked" } },
  "400 Cannot read the body: it is missing": { body: null },
  "408 Cannot read the body: it did not arrive in time": { ...body(() => {}), options: { bodyTimeout: 1 } },
  "400 Cannot read the body: it was cut short": body((controller) => controller.error()),
  "400 Cannot read the body: it is not valid UTF-8": { body: Uint8Array.of(0xff) },
  "400 Cannot read the body: it is not valid JSON": { body: "{" },
  "413 Cannot read the body: it came in more than 256 tiny pieces": body((controller) => {
    for (let i = 0; i < 257; i++) controller.enqueue(Uint8Array.of(0x20));
  }),
  "413 Cannot read the body: it has more than 7 bytes": { options: { maxBodyBytes: 7 } },
  "500 Something went wrong on our side": failing(new Error("secret")),
  "503 Cannot reach the storage now: nothing was changed, and the request can be sent again": failing(new StorageError("unavailable", "secret")),
  "503 Cannot tell whether the pet was added: the storage did not confirm it. Send it again if it had an Idempotency-Key; otherwise list the pets first": failing(new StorageError("outcome_unknown", "secret")),
};

for (const [expected, trial] of Object.entries(trials)) {
  test(`the service answers ${expected}`, async () => {
    let told = 0;
    const onError = () => void told++;
    const { fetch } = handleService({ onError, ...trial.options });
    const { method = "POST", url = "/v1/pets", body = REX_JSON } = trial;
    const authorization = "Bearer secret";
    const headers = new Headers({ authorization, ...trial.headers });
    const sent = { method, url, headers, body: new Response(body).body };
    const answer = await fetch(sent as Request);
    const { message } = await answer.json();
    assert.equal(`${answer.status} ${message}`, expected);
    assert.equal(told, answer.status < 500 ? 0 : 1, "no refusal is an error");
  });
}

test("a server that is shutting down says so, and sends the client elsewhere", () => {
  const { status, message, headers } = shuttingDown;
  assert.deepEqual(
    [status, message, headers["retry-after"], headers["connection"]],
    [
      503,
      "Cannot take the request: the server is shutting down. Nothing was changed, and it can be sent again",
      "1",
      "close",
    ],
  );
});
