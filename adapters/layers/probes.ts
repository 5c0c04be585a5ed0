/** Probes for orchestrators and load balancers: is the process alive, and is it ready? */

import {
  checkFunction,
  checkNames,
  type Endpoint,
  jsonAnswer,
  Refusal,
} from "../../core/kit.ts";
import type { PetStorage } from "../../core/storage.ts";

const ok = jsonAnswer(200, '{"status":"ok"}');
const notReady = new Refusal(
  "service_unavailable",
  "Cannot reach the storage now",
  { "retry-after": "1" },
);

/** Settings of {@linkcode probes}. */
export interface ProbesOptions {
  /** The path that tells whether the process is alive. Default: `/livez`. */
  readonly livez?: string;
  /** The path that tells whether it can serve requests. Default: `/readyz`. */
  readonly readyz?: string;
}

/**
 * Makes `/livez`, and `/readyz`, which pings the storage and is 503 if that fails. They need no API
 * key. Concurrent requests share one ping.
 *
 * @example
 * ```ts
 * import { apiKeys, createHandler, memoryStorage } from "@petstore/service";
 * import { probes } from "@petstore/service/layers";
 * import assert from "node:assert/strict";
 *
 * const storage = memoryStorage();
 * const keys = apiKeys(["secret"]);
 * const handle = createHandler({ storage, keys, endpoints: probes(storage) });
 * const response = await handle(new Request("http://localhost/readyz"));
 * assert.equal(await response.text(), '{"status":"ok"}');
 * ```
 *
 * @throws {TypeError} if an option is unknown or has the wrong type.
 */
export function probes(
  storage: Pick<PetStorage, "ping">,
  options: ProbesOptions = {},
): readonly Endpoint[] {
  checkFunction(storage?.ping, "storage.ping");
  checkNames(options, ["livez", "readyz"], "probes");
  const { livez = "/livez", readyz = "/readyz" } = options;
  let pinging: Promise<void> | undefined;
  return [
    { method: "GET", path: livez, isPublic: true, run: async () => ok },
    {
      method: "GET",
      path: readyz,
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
