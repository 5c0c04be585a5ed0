/** The service as a fetch function: {@linkcode createService}, and a `Response` of what it answers. */

import { toResponse } from "./http/reply.ts";
import { traced } from "./http/trace.ts";
import {
  checkKind,
  createService,
  type HandlerOptions,
  type Service,
} from "./service.ts";

/** The service as a fetch function. It never rejects. */
export type Handler = (request: Request) => Promise<Response>;

/** What a handler does before it makes a `Response`, for adapters that need none. */
export interface HandlerParts {
  readonly service: Service;
  /** Reports the cause of a 500 or a 503. Never throws. */
  readonly report: (cause: unknown, request: Request) => void;
}

const partsOfHandlers = new WeakMap<object, HandlerParts>();

/**
 * Makes the service.
 *
 * @throws {TypeError} if an option is of a wrong kind.
 * @throws {RangeError} if a number is out of bounds.
 * @throws {Error} if this runtime cannot read 64-bit integers exactly, such as Node 20.
 */
export function createHandler(options: HandlerOptions): Handler {
  const { onError = (cause) => console.error(cause) } = options;
  checkKind(onError, "function", "onError");
  return toHandler({
    service: createService(options),
    report(cause, request) {
      // Errors of the reporter itself are ignored.
      (async () => await onError(explain(cause, request), request))()
        .catch(() => {});
    },
  });
}

/** Names a likely mistake: `app.use("/v1", handle)` passes Node's own request. */
function explain(cause: unknown, { headers }: Request): unknown {
  if ("get" in Object(headers)) return cause;
  const message =
    "handle takes a Request: on Node, mount toNodeListener(handle)";
  return new TypeError(message, { cause });
}

/**
 * Turns a service into a fetch function that passes its second argument on to the service. Adapters find
 * the parts again by {@linkcode partsOf}.
 */
export function toHandler(parts: HandlerParts): Handler {
  const { report } = parts;
  const service = traced(parts.service);
  async function handle(
    request: Request,
    connection?: unknown,
  ): Promise<Response> {
    const { reply, cause } = await service(request, connection);
    if (reply.status >= 500) report(cause, request);
    return toResponse(reply, request.method);
  }
  partsOfHandlers.set(handle, { service, report });
  return handle;
}

/** The parts of a function that {@linkcode toHandler} made; `undefined` for any other function, a proxy included. */
export function partsOf(handle: object): HandlerParts | undefined {
  return partsOfHandlers.get(handle);
}
