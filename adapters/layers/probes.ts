/** Probes for orchestrators and load balancers: is the process alive, and is it ready? */

import { type Endpoint, jsonAnswer, Refusal } from "../../core/kit.ts";
import type { PetStorage } from "../../core/storage.ts";

const ok = jsonAnswer(200, '{"status":"ok"}');
const notReady = new Refusal(
  "service_unavailable",
  "Cannot reach the storage now",
  { "retry-after": "1" },
);

/** Makes `/livez`, and `/readyz`, which pings the storage. */
export function createProbes(
  storage: Pick<PetStorage, "ping">,
): readonly Endpoint[] {
  let pinging: Promise<void> | undefined;
  return [
    { method: "GET", path: "/livez", isPublic: true, run: async () => ok },
    {
      method: "GET",
      path: "/readyz",
      isPublic: true,
      async run() {
        try {
          // Concurrent requests share one ping, because strangers may send as many as they like.
          pinging ??= storage.ping().finally(() => pinging = undefined);
          await pinging;
          return ok;
        } catch (cause) {
          return { ...notReady, cause };
        }
      },
    },
  ];
}
