/** Ends a service: counts the requests in flight, and refuses new ones. */

import {
  checkNames,
  parseTarget,
  type ReadBody,
  shuttingDown,
} from "../../core/kit.ts";
import { placed, type PlacedLayer } from "./order.ts";

/** Settings of {@linkcode createDrain}. */
export interface DrainOptions {
  /** The path of the probe that is refused first. Default: `/readyz`. */
  readonly readyz?: string;
  /** The paths that are answered to the end. Default: `/livez` and `/metrics`. */
  readonly toTheEnd?: readonly string[];
}

/** What {@linkcode createDrain} makes. */
export interface Drain {
  /** Counts requests, and refuses them when the service ends. */
  readonly layer: PlacedLayer;
  /** Answers the readiness probe with 503 from now on, so that balancers send no more requests. */
  leave(): void;
  /** Refuses new requests with 503 from now on; resolves once no request is in flight. */
  drain(): Promise<void>;
}

/**
 * Makes the layer that counts requests, and the two steps of an end.
 *
 * A request is in flight until its answer is made; the answer may still be on its way to the client,
 * so close the server next, which waits for that.
 *
 * @example
 * ```ts
 * import { apiKeys, createHandler, memoryStorage } from "@petstore/service";
 * import { createDrain } from "@petstore/service/layers";
 * import assert from "node:assert/strict";
 *
 * const drain = createDrain();
 * const handle = createHandler({
 *   storage: memoryStorage(),
 *   keys: apiKeys(["secret"]),
 *   layers: [drain.layer],
 * });
 * await drain.drain();
 * const { status } = await handle(new Request("http://localhost/v1/pets"));
 * assert.equal(status, 503);
 * ```
 *
 * @throws {TypeError} if an option is unknown or has the wrong type.
 */
export function createDrain(options: DrainOptions = {}): Drain {
  checkNames(options, ["readyz", "toTheEnd"], "createDrain");
  const { readyz = "/readyz", toTheEnd = ["/livez", "/metrics"] } = options;
  if (typeof readyz !== "string" || !Array.isArray(toTheEnd)) {
    throw new TypeError(
      "Wrong option of createDrain: readyz must be a path, and toTheEnd a list of paths",
    );
  }
  let inFlight = 0;
  let isLeaving = false;
  /** Set by `drain()`; resolves once no request is in flight. */
  let drained: PromiseWithResolvers<void> | undefined;

  function isRefused(path: string): boolean {
    return drained === undefined ? path === readyz : !toTheEnd.includes(path);
  }

  const layer = placed(
    "drain",
    (service) => async (request, connection, readBody) => {
      if (isLeaving) {
        const target = parseTarget(request);
        if (isRefused("path" in target ? target.path : "")) return shuttingDown;
      }
      const read: ReadBody = async (...limits) => {
        const body = await readBody(...limits);
        // `deno serve` cuts a body off when it is told to stop, which is not the client's fault.
        const isCut = "status" in body && body.code === "bad_request";
        return isCut && drained !== undefined ? shuttingDown : body;
      };
      inFlight++;
      try {
        return await service(request, connection, read);
      } finally {
        if (--inFlight === 0) drained?.resolve();
      }
    },
  );

  return {
    layer,
    leave() {
      isLeaving = true;
    },
    drain() {
      isLeaving = true;
      drained ??= Promise.withResolvers();
      if (inFlight === 0) drained.resolve();
      return drained.promise;
    },
  };
}
