/**
 * Layers and endpoints that a service needs in production, for Deno, Bun and Node: a log, metrics,
 * a graceful shutdown, rate limits, probes, CORS and tracing. The program `petstore start` is made of
 * them.
 *
 * Pass layers as the option `layers` of `createHandler`, in any order, and endpoints as `endpoints`.
 * A layer of your own is any {@linkcode Layer}; it stands outside these. `createHandler` has tracing
 * anyway, and makes the layer of CORS from its option `cors`.
 *
 * @example A service with all of them
 * ```ts
 * import { apiKeys, createHandler, memoryStorage } from "@petstore/service";
 * import {
 *   createDrain,
 *   createMetrics,
 *   createRateLimit,
 *   logLayer,
 *   probes,
 * } from "@petstore/service/layers";
 * import assert from "node:assert/strict";
 *
 * const limit = createRateLimit({ requests: 100, seconds: 10 });
 * const drain = createDrain();
 * const metrics = createMetrics();
 * const storage = metrics.watch(memoryStorage());
 * const lines: string[] = [];
 * const handle = createHandler({
 *   storage,
 *   keys: apiKeys(["secret"]),
 *   rateLimit: limit.byKey,
 *   layers: [
 *     logLayer({ write: (line) => lines.push(line) }),
 *     metrics.layer,
 *     drain.layer,
 *     limit.byAddress,
 *   ],
 *   endpoints: [...probes(storage), metrics.endpoint],
 * });
 *
 * const { status } = await handle(new Request("http://localhost/readyz"));
 * assert.equal(status, 200);
 * assert.match(lines[0] ?? "", /"route":"\/readyz","status":200/);
 * ```
 *
 * @module
 */

export type {
  Answer,
  BodyLimits,
  Call,
  Endpoint,
  ErrorCode,
  Fields,
  Layer,
  RateLimitResult,
  ReadBody,
  Service,
  ServiceRequest,
} from "../../core/kit.ts";
// Inferred types need a name that the entry exports.
export type * from "../../core/storage.ts";
export type { Place, PlacedLayer } from "./order.ts";
export { clientAddress, type ClientAddressOptions } from "./client_address.ts";
export { corsLayer } from "./cors.ts";
export { createDrain, type Drain, type DrainOptions } from "./drain.ts";
export { logLayer, type LogOptions } from "./log.ts";
export {
  createMetrics,
  type Metric,
  type Metrics,
  type MetricsOptions,
} from "./metrics.ts";
export { probes, type ProbesOptions } from "./probes.ts";
export {
  createRateLimit,
  type RateLimit,
  type RateLimitOptions,
} from "./rate_limit.ts";
export { traceLayer } from "./tracing.ts";
