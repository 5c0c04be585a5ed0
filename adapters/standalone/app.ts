/** The standalone server as a list of layers around the service. */

import type { Layer, Service } from "../../core/http/message.ts";
import type { Endpoint } from "../../core/operations/operation.ts";
import { createService, type ServiceOptions } from "../../core/service.ts";
import { createDrain, type Drain } from "./drain.ts";
import { type Log, logLayer } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { limitAddressLayer, type RateLimiter } from "./rate_limit.ts";

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

/** Makes the server without its sockets. */
export function createApp(
  { log, metrics, cors, limitAddress, routes = [], ...options }: AppParts,
): Pick<Drain, "drain"> & { readonly answer: Service } {
  const { storage } = options;
  const { drain, probes, layer } = createDrain(storage);
  const service = createService(
    { ...options, storage: metrics?.watch(storage) ?? storage },
    [...probes, ...metrics === undefined ? [] : [metrics.route], ...routes],
  );
  // From the outside in: each sees the answers of those below it.
  const layers: readonly (Layer | undefined)[] = [
    metrics?.layer,
    logLayer(log),
    cors,
    layer,
    limitAddress && limitAddressLayer(limitAddress),
  ];
  return {
    answer: layers.reduceRight(
      (inner: Service, outer) => outer?.(inner) ?? inner,
      service,
    ),
    drain,
  };
}
