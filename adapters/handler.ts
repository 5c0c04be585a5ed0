/**
 * The service that embedders make: the core's, wrapped in layers, and with a document that is
 * compressed for clients that ask for it.
 */

import {
  type Answer,
  createService,
  type Handler,
  internalError,
  openApiDocument,
  report,
  type Service,
  type ServiceOptions,
  toHandler,
} from "../core/kit.ts";
import {
  type CheckedOptions,
  type HandlerOptions,
  readHandlerOptions,
} from "./handler_options.ts";
import { staticContent } from "./http/static_content.ts";
import { corsLayer } from "./layers/cors.ts";
import { isOwn, layered } from "./layers/order.ts";
import { traceLayer } from "./layers/tracing.ts";

/**
 * Makes the service.
 *
 * @example Serve it
 * ```ts
 * import { apiKeys, createHandler, memoryStorage } from "@petstore/service";
 *
 * const handle = createHandler({ storage: memoryStorage(), keys: apiKeys(["secret"]) });
 * ```
 *
 * @example Set options
 * ```ts
 * import { apiKeys, createHandler, memoryStorage } from "@petstore/service";
 * import assert from "node:assert/strict";
 *
 * const calls = new Map<string, number>();
 * const handle = createHandler({
 *   storage: memoryStorage(),
 *   keys: apiKeys(["secret"]),
 *   baseUrl: "https://api.example.com/shop/v1",
 *   maxBodyBytes: 1024,
 *   bodyTimeout: 5000,
 *   cors: { origins: ["https://app.example.com"] },
 *   rateLimit(key) {
 *     const count = (calls.get(key) ?? 0) + 1;
 *     calls.set(key, count);
 *     return { allowed: count <= 2, headers: { "retry-after": "60" } };
 *   },
 *   onError: (cause, { method }, route) => console.error(method, route, cause),
 * });
 *
 * const headers = {
 *   authorization: "Bearer secret",
 *   "content-type": "application/json",
 *   origin: "https://app.example.com",
 * };
 * const create = (name: string) =>
 *   handle(
 *     new Request("http://localhost/shop/v1/pets", {
 *       method: "POST",
 *       headers,
 *       body: JSON.stringify({ name, categoryId: 1 }),
 *     }),
 *   );
 * const created = await create("Rex");
 * assert.equal(created.headers.get("location"), "https://api.example.com/shop/v1/pets/1");
 * assert.equal(created.headers.get("access-control-allow-origin"), "https://app.example.com");
 * assert.equal((await create("Rex".repeat(1000))).status, 413);
 * assert.equal((await create("Tom")).status, 429);
 * ```
 *
 * @param options where pets are kept and which keys are valid; the rest have defaults.
 * @returns the service as a fetch function, to serve, mount or call.
 * @throws {TypeError} if an option is unknown or has the wrong type.
 * @throws {RangeError} if a number is out of bounds.
 * @throws {Error} if this runtime is too old, such as Node 20.
 */
export function createHandler(options: HandlerOptions): Handler {
  const read = readHandlerOptions(options);
  const { cors } = options;
  const layers = [...read.layers];
  if (cors !== undefined) layers.push(corsLayer(cors, read.baseUrl.path));
  if (!layers.includes(traceLayer)) layers.push(traceLayer);
  const service = layered(serviceOf(read), layers);
  return toHandler(
    layers.some(isOwn) ? answering(service, read.onError) : service,
    read.onError,
  );
}

/** Answers 500 if a layer of the caller's own fails: what it wraps never does. */
function answering(
  service: Service,
  onError: CheckedOptions["onError"],
): Service {
  return async (request, ...rest) => {
    try {
      const answer = await service(request, ...rest);
      const { status, headers } = Object(answer) as Partial<Answer>;
      new Headers(headers); // throws if a field cannot be sent
      if (status !== undefined && status >= 200 && status <= 599) return answer;
      throw new TypeError(
        "Wrong result of a layer: it must be the answer of the service, or another one",
      );
    } catch (cause) {
      report(() => onError(cause, request, undefined, undefined));
      return { ...internalError, cause };
    }
  };
}

/** Makes the service without its layers. */
export function serviceOf(options: ServiceOptions): Service {
  const { baseUrl, hasGetPet, limits, storage } = options;
  const { idempotencyRetention } = storage;
  const document = staticContent(
    () => {
      const described = { hasGetPet, ...limits, idempotencyRetention };
      const document = openApiDocument(baseUrl, described);
      return new TextEncoder().encode(JSON.stringify(document));
    },
    { "content-type": "application/json" },
  );
  return createService({ ...options, document });
}
