/** The layer that refuses new requests while the server shuts down. */

import { cutShort } from "../../core/http/body.ts";
import type { Layer, ServiceRequest } from "../../core/http/message.ts";
import { shuttingDown } from "../../core/http/refusal.ts";
import { parseTarget } from "../../core/http/target.ts";

/** Counts the requests in flight, and ends the service in order. */
export interface Drain {
  readonly layer: Layer;
  /** Becomes true when the server begins to shut down. */
  readonly isDraining: () => boolean;
  /** Refuses new requests with 503 from now on; fulfilled once no request is in flight. */
  drain(): Promise<void>;
}

/** @param probes the paths that are answered to the end. */
export function createDrain(probes: readonly string[]): Drain {
  let inFlight = 0;
  let drained: PromiseWithResolvers<void> | undefined;

  function isProbe(request: ServiceRequest): boolean {
    const target = parseTarget(request);
    return "path" in target && probes.includes(target.path);
  }

  return {
    layer: (service) => async (request, connection) => {
      if (drained !== undefined && !isProbe(request)) return shuttingDown;
      inFlight++;
      const answer = await service(request, connection);
      if (--inFlight === 0) drained?.resolve();
      // `deno serve` takes the rest of a body away when it is told to stop: not the client's fault.
      const isCut = drained !== undefined && answer.body === cutShort.body;
      return isCut ? { ...shuttingDown, route: answer.route } : answer;
    },
    isDraining: () => drained !== undefined,
    drain() {
      drained ??= Promise.withResolvers();
      if (inFlight === 0) drained.resolve();
      return drained.promise;
    },
  };
}
