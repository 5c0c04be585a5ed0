/** The storage port. `@petstore/service/contract` has a test for each promise written here. */

import type { Page, PageRequest } from "./page.ts";
import type { CheckedPet, Pet, PetId } from "./pet.ts";

/**
 * Keeps pets. Every method returns a promise, and rejects with a {@linkcode StorageError} if the
 * caller can act on the fault. Objects that are passed in or returned belong to the caller:
 * changing them changes no pet.
 */
export interface PetStorage {
  /** How long an idempotency key is kept, in ms. If omitted, the OpenAPI document does not say. */
  readonly idempotencyRetention?: number;

  /**
   * Adds a pet and gives it an id greater than every id given before.
   *
   * Once the promise resolves, the pet is as durable as the storage makes anything, and every `get`
   * and `list` that starts afterwards sees it. Ids become visible in ascending order: a reader that
   * has seen an id never later sees a smaller one appear. The pet is not checked again.
   *
   * If a create with the same `idempotencyKey` (64 lower-case hexadecimal digits) added a pet less
   * than the storage's retention ago, this adds nothing and returns that pet with `replayed`,
   * whatever `pet` is. However many run at once, in however many processes, exactly one adds its
   * pet.
   */
  create(
    pet: CheckedPet,
    options?: { readonly idempotencyKey?: string },
  ): Promise<Pet & { readonly replayed?: true }>;

  /** Returns the pet with this id; `undefined` if it does not exist. */
  get(id: PetId): Promise<Pet | undefined>;

  /** Returns the pets that match, ascending by id, and says whether more do. */
  list(request: PageRequest): Promise<Page>;

  /** Resolves if the storage can answer now; rejects with the reason if not. */
  ping(): Promise<void>;

  /**
   * Finishes the creates under way, then releases everything. May be called more than once. Every
   * other method then rejects as `unavailable`.
   */
  close(): Promise<void>;
}

/**
 * A fault of the storage that the caller can act on. Its `cause` is the driver's own error.
 *
 * @example The answer to each kind
 * ```ts
 * import { apiKeys, createHandler, memoryStorage, StorageError } from "@petstore/service";
 * import assert from "node:assert/strict";
 *
 * async function create(fault: StorageError): Promise<Response> {
 *   const storage = { ...memoryStorage(), create: () => Promise.reject(fault) };
 *   const handle = createHandler({ storage, keys: apiKeys(["secret"]), onError() {} });
 *   const headers = { authorization: "Bearer secret", "content-type": "application/json" };
 *   const init = { method: "POST", headers, body: '{"name":"Rex","categoryId":1}' };
 *   return await handle(new Request("http://localhost/v1/pets", init));
 * }
 *
 * const unavailable = new StorageError("unavailable", "Cannot reach the database", { retryAfter: 5 });
 * const again = await create(unavailable); // nothing happened
 * assert.deepEqual([again.status, again.headers.get("retry-after")], [503, "5"]);
 *
 * const unknown = new StorageError("outcome_unknown", "The connection broke off");
 * const uncertain = await create(unknown); // the pet may have been added
 * assert.deepEqual([uncertain.status, uncertain.headers.get("retry-after")], [503, null]);
 * ```
 */
export class StorageError extends Error {
  /**
   * Says what is known about the operation that failed. `unavailable`: nothing happened, and it can
   * be retried. `outcome_unknown`: a create was under way, and may have happened.
   */
  readonly kind: "unavailable" | "outcome_unknown";
  /** If it is `unavailable`: seconds to wait before retrying, 1 or more. */
  readonly retryAfter: number;

  /**
   * Makes the error; `message` is for operators, and is never sent to a client. `retryAfter` is
   * rounded up to whole seconds, 1 to 60; it is 1 by default.
   */
  constructor(
    kind: "unavailable" | "outcome_unknown",
    message: string,
    options: ErrorOptions & { readonly retryAfter?: number } = {},
  ) {
    super(message, options);
    this.name = "StorageError";
    this.kind = kind;
    const seconds = Math.ceil(Number(options.retryAfter)); // NaN if it is omitted
    this.retryAfter = seconds >= 1 ? Math.min(seconds, 60) : 1;
  }
}

/**
 * Tells whether a storage failed with a {@linkcode StorageError}. By its members: it may be of
 * another copy of this package.
 */
export function isStorageError(cause: unknown): cause is StorageError {
  const { kind, retryAfter } = Object(cause) as Partial<StorageError>;
  return cause instanceof Error && Number.isSafeInteger(retryAfter) &&
    (kind === "unavailable" || kind === "outcome_unknown");
}
