/** The standalone server as a list of layers around the service. */

import {
  type Layer,
  type Service,
  withFields,
} from "../../core/http/message.ts";
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
    requestIdLayer(),
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

/**
 * Makes the layer that gives each answer an `X-Request-Id`: the client's own, if it is 1 to 128
 * unreserved characters, or one that no other process and no other start makes.
 */
function requestIdLayer(): Layer {
  const prefix = crypto.randomUUID().replaceAll("-", "").slice(0, 20);
  let count = 0;
  return (service) => async (request, connection) => {
    const sent = request.headers.get("x-request-id") ?? "";
    const id = /^[A-Za-z0-9._~-]{1,128}$/.test(sent)
      ? sent
      : `${prefix}-${++count}`;
    return withFields(await service(request, connection), {
      "x-request-id": id,
    });
  };
}
