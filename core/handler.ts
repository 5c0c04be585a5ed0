/** The service as a fetch function, and the way back for adapters without `Request` and `Response`. */

import { parseBaseUrl } from "./http/base_url.ts";
import { corsLayer } from "./http/cors.ts";
import { responder, type Service } from "./http/message.ts";
import { checkFunction, checkNames } from "./options.ts";
import { createService, type HandlerOptions } from "./service.ts";

/** The service as a fetch function. It never rejects. */
export type Handler = (request: Request) => Promise<Response>;

const OPTIONS: readonly (keyof HandlerOptions)[] = [
  "storage",
  "keys",
  "baseUrl",
  "maxBodyBytes",
  "bodyTimeout",
  "cors",
  "rateLimit",
  "onError",
];

/**
 * Makes the service.
 *
 * @example
 * ```ts
 * import { apiKeys, createHandler, memoryStorage } from "@petstore/service";
 *
 * const handle = createHandler({ storage: memoryStorage(), keys: apiKeys(["secret"]) });
 * ```
 * @throws {TypeError} if an option is unknown or of a wrong kind.
 * @throws {RangeError} if a number is out of bounds.
 * @throws {Error} if this runtime cannot read 64-bit integers exactly, such as Node 20.
 */
export function createHandler(options: HandlerOptions): Handler {
  checkNames(options, OPTIONS, "createHandler");
  const {
    baseUrl = "/v1",
    cors,
    onError = (cause) => console.error(cause),
    ...others
  } = options;
  checkFunction(onError, "onError");
  const service = createService({
    ...others,
    baseUrl: parseBaseUrl(baseUrl),
    onError,
  });
  return toFetch(cors === undefined ? service : corsLayer(cors)(service));
}

const services = new WeakMap<object, Service>();

/**
 * Makes a fetch function of a service. Adapters find the service again by {@linkcode serviceOf}, and pass it
 * the connection too.
 */
export function toFetch(service: Service): Handler {
  const respond = responder(service);
  function handle(request: Request): Promise<Response> {
    // A likely mistake: `app.use("/v1", handle)` passes Node's own request.
    if (typeof request?.headers?.get !== "function") {
      throw new TypeError(
        "handle takes a Request: on Node, mount toNodeListener(handle)",
      );
    }
    return respond(request);
  }
  services.set(handle, service);
  return handle;
}

/** The service of a function that {@linkcode toFetch} made; `undefined` for any other function, a proxy included. */
export function serviceOf(handle: object): Service | undefined {
  return services.get(handle);
}
