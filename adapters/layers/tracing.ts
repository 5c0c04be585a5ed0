/**
 * The trace of a request, read from where `@opentelemetry/api` 1 keeps it, if the program uses
 * that. These places are internal (`createContextKey`, `internal/global-utils.ts`,
 * `rpc-metadata.ts`), but importing the package would add a dependency to every program. If they
 * change, tests/adapters/standalone/open_telemetry_slow.ts fails.
 */

import type { ServiceRequest } from "../../core/kit.ts";
import { placed, type PlacedLayer } from "./order.ts";

/** The key of the current span in a context. */
export const SPAN: symbol = Symbol.for("OpenTelemetry Context Key SPAN");
/**
 * The instrumentation of Node's HTTP server reads the route from here, for its span and its
 * metrics.
 */
const RPC = Symbol.for("OpenTelemetry SDK Context Key RPC_METADATA");

/** The part of a span that is used. */
export interface Span {
  spanContext(): { readonly traceId: string };
  setAttribute(name: string, value: string): Span;
  updateName(name: string): Span;
}

/**
 * Finds the contexts: Deno has them from the start if `OTEL_DENO=true`; elsewhere an SDK must be
 * loaded first.
 */
export function findContexts():
  | { active(): { getValue<T>(key: symbol): T | undefined } }
  | undefined {
  const api = Symbol.for("opentelemetry.js.api.1");
  return Reflect.get(globalThis, api)?.context;
}

/**
 * Gives each request's span a name such as `GET /v1/pets/{petId}`, the attribute `http.route`, and
 * the id of the API key as `enduser.id` (OpenTelemetry's semantic conventions, "Enduser"). Changes
 * no answer, and does nothing if OpenTelemetry is not loaded when the service is made.
 *
 * @example For a service of your own, because `createHandler` has it
 * ```ts
 * import { traceLayer } from "@petstore/service/layers";
 * import { jsonAnswer, toHandler } from "@petstore/service/kit";
 * import assert from "node:assert/strict";
 *
 * const handle = toHandler(traceLayer(async () => jsonAnswer(200, "[]")));
 * const { status } = await handle(new Request("http://localhost/"));
 * assert.equal(status, 200);
 * ```
 */
export const traceLayer: PlacedLayer = placed("tracing", (service) => {
  const contexts = findContexts();
  if (contexts === undefined) return service;
  return async (request, ...rest) => {
    const answer = await service(request, ...rest);
    const { route, keyId } = answer;
    if (route === undefined) return answer;
    const context = contexts.active();
    const rpc = context.getValue<{ route?: string }>(RPC);
    const span = context.getValue<Span>(SPAN);
    if (keyId !== undefined) span?.setAttribute("enduser.id", `${keyId}`);
    const name = `${knownMethod(request) ?? "HTTP"} ${route}`;
    if (rpc !== undefined) rpc.route = route;
    else span?.setAttribute("http.route", route).updateName(name);
    return answer;
  };
});

const METHOD = /^(?:GET|HEAD|POST|PUT|DELETE|CONNECT|OPTIONS|TRACE|PATCH)$/;

/** The method, if RFC 9110 or RFC 5789 defines it. A client may have made up any other. */
export function knownMethod({ method }: ServiceRequest): string | undefined {
  return METHOD.test(method) ? method : undefined;
}
