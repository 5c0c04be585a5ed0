/**
 * A pet store to test clients, gateways and front ends against: the real service in memory, which
 * always starts in the same state and fails when the tester tells it to. It runs on Deno, Bun and
 * Node.
 *
 * @module
 */

import { type Answer, Refusal, toResponse, webBody } from "../../core/kit.ts";
import type { Pet } from "../../core/storage.ts";
import type { Fault } from "./fault.ts";
import type { RecordedRequest } from "./journal.ts";
import {
  type SandboxServeOptions,
  type SandboxServer,
  serveWorlds,
} from "./serve.ts";
import { createWorlds, type SandboxOptions } from "./worlds.ts";

export type { Fields } from "../../core/kit.ts";
export type { NewPet, Pet, PetId, PetStatus } from "../../core/storage.ts";
export type {
  Fault,
  FaultAnswer,
  FaultTime,
  FaultWhen,
  Framing,
  Wanted,
} from "./fault.ts";
export type { RecordedRequest, SandboxEvent } from "./journal.ts";
export type { SeedPet } from "../storage/memory/mod.ts";
export type { SandboxServeOptions, SandboxServer } from "./serve.ts";
export type { SandboxOptions } from "./worlds.ts";

/** What `{other}` stands for without a port: no host has this name (RFC 2606 §2). */
const OTHER = "http://other.invalid";

/** A pet store to test against. */
export interface Sandbox {
  /**
   * The service in the place of `fetch`, for tests without a port. If the answer is lost, it
   * rejects with a `TypeError`, as `fetch` does.
   */
  readonly handle: (
    input: Request | URL | string,
    init?: RequestInit,
  ) => Promise<Response>;
  /** The API key, or the first of several. */
  readonly key: string;
  /** All pets, ascending by id. */
  readonly pets: readonly Pet[];
  /** The faults that wait. */
  readonly faults: readonly Fault[];
  /**
   * The requests that the service received, in order: the last 1,000, or fewer if they are long.
   */
  readonly requests: readonly RecordedRequest[];
  /**
   * Adds one or more faults after those that wait. Throws a `TypeError` if one is wrong; then none
   * is added.
   */
  add(faults: Fault | readonly Fault[]): void;
  /** Returns to the initial state: its pets, and no faults, requests or idempotency keys. */
  reset(): void;
  /** Listens on a port. Rejects if it cannot. */
  serve(options?: SandboxServeOptions): Promise<SandboxServer>;
}

/**
 * Makes a sandbox.
 *
 * @example A lost answer: the pet was added, but the client cannot know
 * ```ts
 * import { sandbox } from "@petstore/service/sandbox";
 * import assert from "node:assert/strict";
 *
 * const store = sandbox({ pets: 50, key: "test" });
 * const headers = { authorization: "Bearer test", "content-type": "application/json", "idempotency-key": "1" };
 * const create = () =>
 *   store.handle(new Request("http://localhost/v1/pets", { method: "POST", headers, body: '{"name":"Rex","categoryId":1}' }));
 *
 * store.add({ lose: true, work: true });
 * await assert.rejects(create, TypeError);
 * const again = await create();
 * assert.equal(again.headers.get("idempotent-replayed"), "true");
 * assert.deepEqual(store.requests.map(({ status }) => status), [null, 201]);
 * ```
 *
 * @example Over HTTP
 * ```ts
 * import { sandbox } from "@petstore/service/sandbox";
 * import assert from "node:assert/strict";
 *
 * const store = sandbox({ pets: 3 });
 * const { url, key, close } = await store.serve();
 * store.add({ answer: { status: 503, headers: { "retry-after": "2" } } });
 * const headers = { authorization: `Bearer ${key}` };
 * const refused = await fetch(`${url}/pets`, { headers });
 * const listed = await fetch(`${url}/pets`, { headers });
 * assert.deepEqual([refused.status, refused.headers.get("retry-after")], [503, "2"]);
 * assert.equal((await listed.json()).length, 3);
 * await refused.body?.cancel();
 * await close();
 * ```
 *
 * @param options the pets, the key, the delay, the limit of pets, and who receives events.
 * @returns the sandbox, to call in process or to serve.
 * @throws {TypeError} if an option is unknown or has the wrong type, or a pet is invalid.
 * @throws {RangeError} if a number is out of bounds.
 */
export function sandbox(options: SandboxOptions = {}): Sandbox {
  const worlds = createWorlds(options);
  const { key, first } = worlds;
  const { reset } = first;

  async function handle(
    input: Request | URL | string,
    init?: RequestInit,
  ): Promise<Response> {
    const request = new Request(input, init);
    const { method, url, headers, signal } = request;
    signal.throwIfAborted();
    const { pathname, search } = new URL(url);
    const target = pathname + search;
    const fields = Object.fromEntries(headers);
    const found = worlds.find(headers.get("authorization"));
    // A request that begins no world is recorded in the first.
    const store = found instanceof Refusal ? first : found;
    const entry = store.journal.begin({ method, target, headers: fields });
    const readBody = webBody(request);
    const exchange = { entry, signal, readBody, other: OTHER };
    const answer: Answer = found instanceof Refusal
      ? found
      : await store.answer(request, exchange);
    const isLost = answer.isSent === false;
    const isStream = answer.body instanceof ReadableStream; // which ends later
    if (signal.aborted || !isStream) {
      store.journal.end(entry, isLost ? null : answer.status);
    }
    signal.throwIfAborted();
    if (isLost) throw new TypeError("fetch failed"); // as undici's
    // Clients resolve `Link` and `Location` against it.
    return Object.defineProperty(toResponse(answer, method), "url", {
      value: url,
    });
  }

  return {
    handle,
    key,
    get pets() {
      return first.pets();
    },
    get faults() {
      return first.faults.list();
    },
    get requests() {
      return first.journal.list();
    },
    add: (faults) => first.faults.add(faults),
    reset,
    serve: async (options = {}) => await serveWorlds(worlds, options),
  };
}
