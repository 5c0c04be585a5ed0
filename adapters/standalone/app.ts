/** The standalone server as a list of layers around the service. */

import { type HandlerOptions, readHandlerOptions } from "../../core/handler.ts";
import { corsLayer } from "../../core/http/cors.ts";
import type { Layer, Service } from "../../core/http/message.ts";
import type { Endpoint } from "../../core/operations/operation.ts";
import { createService } from "../../core/service.ts";
import { createDrain } from "./drain.ts";
import { type Log, logLayer } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { createProbes } from "./probes.ts";
import { limitAddressLayer, type RateLimiter } from "./rate_limit.ts";

/** The parts of the server. A layer that is left out adds nothing. */
export interface AppParts extends Omit<HandlerOptions, "onError"> {
  readonly log: Pick<Log, "request" | "fault">;
  /** Answers `/metrics`. */
  readonly metrics?: Metrics | undefined;
  /** Counts the requests without a valid key, by the address that they come from. */
  readonly limitAddress?: RateLimiter | undefined;
  /** How many proxies are in front. Default: none. */
  readonly proxies?: number;
  /** Further endpoints, such as the page that documents the service. */
  readonly endpoints?: readonly Endpoint[];
}

/** Makes the server without its sockets. */
export function createApp(
  { log, metrics, limitAddress, proxies = 0, endpoints = [], ...options }:
    AppParts,
) {
  const { storage, cors } = options;
  const { layer: drainLayer, ...ending } = createDrain();
  const read = readHandlerOptions({
    ...options,
    storage: metrics?.watch(storage) ?? storage,
    onError: () => {}, // the layer of the log has the cause from the answer
  });
  const service = createService(read, [
    ...createProbes(storage),
    ...metrics === undefined ? [] : [metrics.endpoint],
    ...endpoints,
  ]);
  // From the outside in: each sees the answers of those below it.
  const layers: readonly (Layer | undefined)[] = [
    metrics?.layer,
    logLayer(log, proxies),
    cors && corsLayer(cors, read.baseUrl.path),
    drainLayer,
    limitAddress && limitAddressLayer(limitAddress, proxies),
  ];
  return {
    answer: layers.reduceRight(
      (inner: Service, outer) => outer?.(inner) ?? inner,
      service,
    ),
    ...ending,
  };
}
