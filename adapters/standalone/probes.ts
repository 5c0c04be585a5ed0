/** The routes for orchestrators and load balancers: is the process alive, can it take requests? */

import { jsonAnswer } from "../../core/http/message.ts";
import { Refusal, shuttingDown } from "../../core/http/refusal.ts";
import type { Endpoint } from "../../core/operations/operation.ts";
import type { PetStorage } from "../../core/pets/pet_storage.ts";

const ok = jsonAnswer(200, '{"status":"ok"}');
const notReady = new Refusal(
  "service_unavailable",
  "Cannot reach the storage now",
  { "retry-after": "1" },
);

/** Makes `/livez` and `/readyz`. */
export function probes(
  storage: Pick<PetStorage, "ping">,
  isDraining: () => boolean,
): readonly Endpoint[] {
  let pinging: Promise<void> | undefined;
  return [
    { method: "GET", path: "/livez", isPublic: true, run: async () => ok },
    {
      method: "GET",
      path: "/readyz",
      isPublic: true,
      async run() {
        if (isDraining()) return shuttingDown;
        try {
          // One look serves all that ask meanwhile: strangers may ask as often as they like.
          await (pinging ??= storage.ping().finally(() => pinging = undefined));
          return ok;
        } catch (cause) {
          return { ...notReady, cause };
        }
      },
    },
  ];
}
