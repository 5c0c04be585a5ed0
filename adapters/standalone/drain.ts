/** The probes, which say if the process is alive and ready, and the layer that refuses requests during shutdown. */

import { cutShort } from "../../core/http/body.ts";
import { jsonAnswer, type Layer } from "../../core/http/message.ts";
import { Refusal, shuttingDown } from "../../core/http/refusal.ts";
import { parseTarget } from "../../core/http/target.ts";
import type { Endpoint } from "../../core/operations/operation.ts";
import type { PetStorage } from "../../core/pets/pet_storage.ts";

/** The paths that are answered to the end; `/readyz` then refuses, as it should. */
const TO_THE_END = ["/livez", "/metrics"];

const ok = jsonAnswer(200, '{"status":"ok"}');
const notReady = new Refusal(
  "service_unavailable",
  "Cannot reach the storage now",
  { "retry-after": "1" },
);

/** Counts the requests in flight, and ends the service in order. */
export interface Drain {
  readonly layer: Layer;
  /** `/livez` and `/readyz`, for orchestrators and load balancers. */
  readonly probes: readonly Endpoint[];
  /** Refuses new requests with 503 from now on; fulfilled once no request is in flight. */
  drain(): Promise<void>;
}

/** @param storage decides if the server is ready. */
export function createDrain(storage: Pick<PetStorage, "ping">): Drain {
  let inFlight = 0;
  let drained: PromiseWithResolvers<void> | undefined;
  let pinging: Promise<void> | undefined;

  return {
    layer: (service) => async (request, connection) => {
      if (drained !== undefined) {
        const target = parseTarget(request);
        const isAnswered = "path" in target && TO_THE_END.includes(target.path);
        if (!isAnswered) return shuttingDown;
      }
      inFlight++;
      const answer = await service(request, connection);
      if (--inFlight === 0) drained?.resolve();
      // `deno serve` takes the rest of a body away when it is told to stop: not the client's fault.
      const isCut = drained !== undefined && answer.body === cutShort.body;
      return isCut ? { ...shuttingDown, route: answer.route } : answer;
    },
    probes: [
      { method: "GET", path: "/livez", isPublic: true, run: async () => ok },
      {
        method: "GET",
        path: "/readyz",
        isPublic: true,
        async run() {
          try {
            // All who ask meanwhile share one ping, because strangers may ask as often as they like.
            pinging ??= storage.ping().finally(() => pinging = undefined);
            await pinging;
            return ok;
          } catch (cause) {
            return { ...notReady, cause };
          }
        },
      },
    ],
    drain() {
      drained ??= Promise.withResolvers();
      if (inFlight === 0) drained.resolve();
      return drained.promise;
    },
  };
}
