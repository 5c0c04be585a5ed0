/**
 * What the standalone server adds around the service: request ids, the log, probes, the page that
 * documents it, and a count of the requests in flight.
 *
 * @module
 */

import { ApiError } from "../../core/http/refusal.ts";
import type { Handler } from "../../core/handler.ts";
import type { PetStorage } from "../../core/pets/pet_storage.ts";
import {
  jsonReply,
  type Reply,
  type ResponseConstructor,
  toResponse,
} from "../../core/http/reply.ts";
import { parseTarget } from "../../core/http/target.ts";
import type { Docs } from "../docs/mod.ts";
import type { Log } from "./log.ts";

/** What the app is made of. */
export interface AppParts {
  /** Makes the service; its faults go to the log, and its responses carry the request's id. */
  readonly createHandler: (
    onError: (cause: unknown, request: Request) => void,
    makeResponse: (reply: Reply, request: Request) => Response,
  ) => Handler;
  /** The path as a template; `undefined` where there is no such path. */
  readonly template: (path: string) => string | undefined;
  /** The page that documents the service; never asked for a path that the service has. */
  readonly docs?: Docs | undefined;
  readonly storage: PetStorage;
  readonly log: Log;
  readonly Response: ResponseConstructor;
}

/** The server's fetch function, and its end. */
export interface App {
  /**
   * Answers one request.
   * @param sent settles when the runtime has sent the response, where it can tell.
   */
  fetch(request: Request, sent?: Promise<unknown>): Promise<Response>;
  /** From now on new requests are answered 503; settles when none is in flight. */
  drain(): Promise<void>;
}

const LIVE = "/livez";
const READY = "/readyz";

const ok = jsonReply(200, '{"status":"ok"}');
const methodNotAllowed = new ApiError(
  "method_not_allowed",
  "Cannot use this method on a probe: it has GET, HEAD",
  { allow: "GET, HEAD" },
);
const draining = new ApiError(
  "service_unavailable",
  "Cannot take the request: the server is shutting down. Nothing was changed, and it can be sent again",
  { "retry-after": "1", "connection": "close" },
);
const notReady = new ApiError(
  "service_unavailable",
  "Cannot reach the storage now",
  { "retry-after": "1" },
);

/** Makes the app. */
export function createApp(
  { createHandler, template, docs, storage, log, Response }: AppParts,
): App {
  const ids = new WeakMap<Request, string>();
  const handle = createHandler(
    (cause, request) => log.fault(cause, ids.get(request)),
    respond,
  );
  let inFlight = 0;
  let drained: PromiseWithResolvers<void> | undefined;

  // A field that is added to a response which is there already, as that of the page is, costs much
  // more, on Deno most of all.
  function respond({ status, headers, body }: Reply, request: Request) {
    const id = ids.get(request) ?? "";
    return toResponse(
      { status, headers: { ...headers, "x-request-id": id }, body },
      { method: request.method, Response },
    );
  }

  async function answer(request: Request, path: string): Promise<Response> {
    if (path === LIVE || path === READY) {
      return respond(await probe(request.method, path), request);
    }
    if (drained !== undefined) return respond(draining, request);
    const response = await handle(request);
    // `deno serve` takes the rest of a body away when it is told to stop: not the client's fault.
    const isCut = drained !== undefined && request.method === "POST" &&
      response.status === 400;
    return isCut ? respond(draining, request) : response;
  }

  async function probe(method: string, path: string): Promise<Reply> {
    if (method !== "GET" && method !== "HEAD") return methodNotAllowed;
    if (path === LIVE) return ok;
    if (drained !== undefined) return draining;
    try {
      await storage.ping();
      return ok;
    } catch (cause) {
      log.fault(cause, undefined);
      return notReady;
    }
  }

  function finished(): void {
    inFlight--;
    if (inFlight === 0) drained?.resolve();
  }

  return {
    async fetch(request, sent) {
      inFlight++;
      const start = performance.now();
      try {
        const id = requestId(request.headers.get("x-request-id"));
        ids.set(request, id);
        const target = parseTarget(request);
        const path = target instanceof ApiError ? "" : target.path;
        const route = template(path);
        const page = route === undefined && drained === undefined
          ? await docs?.(request)
          : undefined;
        page?.headers.set("x-request-id", id);
        const response = page ?? await answer(request, path);
        log.request({
          time: new Date().toISOString(),
          method: request.method.slice(0, 20),
          route: path === LIVE || path === READY || page !== undefined
            ? path
            : route ?? null,
          status: response.status,
          ms: Math.round(1000 * (performance.now() - start)) / 1000,
          id,
        });
        return response;
      } finally {
        // A process that ends as soon as the answer is made would not send it.
        if (sent === undefined) finished();
        else sent.then(finished, finished);
      }
    },
    drain() {
      drained ??= Promise.withResolvers();
      if (inFlight === 0) drained.resolve();
      return drained.promise;
    },
  };
}

/** The client's own id where it is well-formed (1 to 128 unreserved characters), or a new UUID. */
function requestId(sent: string | null): string {
  return sent !== null && /^[A-Za-z0-9._~-]{1,128}$/.test(sent)
    ? sent
    : crypto.randomUUID();
}
