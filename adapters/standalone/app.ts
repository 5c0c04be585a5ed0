/** The standalone server as a list of layers around the service. */

import { type HandlerOptions, readHandlerOptions } from "../../core/handler.ts";
import { corsLayer } from "../../core/http/cors.ts";
import type { Layer, Service } from "../../core/http/message.ts";
import { Refusal } from "../../core/http/refusal.ts";
import { createRouter } from "../../core/http/router.ts";
import type { Endpoint } from "../../core/operations/operation.ts";
import { createPipeline, createService } from "../../core/service.ts";
import { traceLayer } from "../../core/trace.ts";
import { createDrain } from "./drain.ts";
import { type Log, logLayer } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { createProbes } from "./probes.ts";
import { limitAddressLayer, type RateLimiter } from "./rate_limit.ts";

/** The parts of the server. A layer that is omitted adds nothing. */
export interface AppParts extends Omit<HandlerOptions, "docs" | "onError"> {
  readonly log: Pick<Log, "request" | "fault">;
  /** Answers `/metrics`. */
  readonly metrics?: Metrics | undefined;
  /** Counts the requests without a valid key, by the client's address. */
  readonly limitAddress?: RateLimiter | undefined;
  /** How many proxies are in front. Default: none. */
  readonly proxies?: number;
  /** If true, only `admin` answers `/metrics`. Default: both do. */
  readonly isAdminApart?: boolean;
  /** Further endpoints, such as the page that documents the service. */
  readonly endpoints?: readonly Endpoint[];
}

/** Makes the server without its sockets. */
export function createApp(
  {
    log,
    metrics,
    limitAddress,
    proxies = 0,
    isAdminApart = false,
    endpoints = [],
    ...options
  }: AppParts,
) {
  const { storage, cors } = options;
  const { layer: drainLayer, ...ending } = createDrain();
  const read = readHandlerOptions({
    ...options,
    storage: metrics?.watch(storage) ?? storage,
    onError: () => {}, // the log layer reads the cause from the answer
  });
  const probes = createProbes(storage);
  const all = metrics === undefined ? probes : [...probes, metrics.endpoint];
  const findAdmin = createRouter(all);
  const logging = logLayer(log, proxies);
  return {
    /** The service, the probes, and the other endpoints. */
    answer: layered(
      createService(read, [...isAdminApart ? probes : all, ...endpoints]),
      metrics?.layer,
      logging,
      cors && corsLayer(cors, read.baseUrl.path),
      drainLayer,
      limitAddress && limitAddressLayer(limitAddress, proxies),
      traceLayer,
    ),
    /** The probes and metrics, for their own port. */
    admin: layered(
      createPipeline(
        (method, path) => findAdmin(method, path) ?? notFound,
        read,
      ),
      metrics?.layer,
      logging,
      drainLayer,
      traceLayer,
    ),
    ...ending,
  };
}

const notFound = new Refusal(
  "not_found",
  "Cannot find this path: this port has /livez, /readyz and, if enabled, /metrics",
);

/** Wraps a service in layers, outermost first: each sees the answers of those after it. */
function layered(
  service: Service,
  ...layers: readonly (Layer | undefined)[]
): Service {
  return layers.reduceRight(
    (inner: Service, outer) => outer?.(inner) ?? inner,
    service,
  );
}
