/** The standalone server as a list of layers around the service. */

import type { Layer, Service } from "../../core/http/message.ts";
import type { Endpoint } from "../../core/operations/operation.ts";
import { createService, type ServiceOptions } from "../../core/service.ts";
import { createDrain, type Drain } from "./drain.ts";
import { type Log, logLayer } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { probes } from "./probes.ts";
import { limitAddressLayer, type RateLimiter } from "./rate_limit.ts";
import { requestIdLayer } from "./request_id.ts";

/** The parts of the server. A layer that is left out adds nothing. */
export interface AppParts extends ServiceOptions {
  readonly log: Pick<Log, "request" | "fault">;
  /** Answers `/metrics`. */
  readonly metrics?: Metrics | undefined;
  readonly cors?: Layer | undefined;
  /** Counts the requests without a valid key, by the address that they come from. */
  readonly limitAddress?: RateLimiter | undefined;
  /** Further routes, such as the page that documents the service. */
  readonly routes?: readonly Endpoint[];
}

/** The server without its sockets. */
export interface App {
  readonly service: Service;
  readonly drain: Drain["drain"];
}

/** Puts the server together. */
export function createApp(
  { log, metrics, cors, limitAddress, routes = [], ...options }: AppParts,
): App {
  const { storage } = options;
  const drain = createDrain(["/livez", "/readyz", "/metrics"]);
  const service = createService(
    { ...options, storage: metrics?.watch(storage) ?? storage },
    [
      ...probes(storage, drain.isDraining),
      ...metrics === undefined ? [] : [metrics.route],
      ...routes,
    ],
  );
  // From the outside in: each sees the answers of those below it.
  const layers: readonly (Layer | undefined)[] = [
    metrics?.layer,
    logLayer(log),
    requestIdLayer(),
    cors,
    drain.layer,
    limitAddress && limitAddressLayer(limitAddress),
  ];
  return {
    service: layers.reduceRight(
      (inner: Service, layer) => layer?.(inner) ?? inner,
      service,
    ),
    drain: drain.drain,
  };
}
