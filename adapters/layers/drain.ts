/** Ends a service: counts the requests in flight, and refuses new ones. */

import {
  type Layer,
  parseTarget,
  type ReadBody,
  shuttingDown,
} from "../../core/kit.ts";

/** The paths that are answered to the end; `/readyz` is refused, as it should be. */
const TO_THE_END = ["/livez", "/metrics"];

/** Makes the layer that counts, and the two steps of an end. */
export function createDrain() {
  let inFlight = 0;
  let isLeaving = false;
  /** Set by `drain()`; resolves once no request is in flight. */
  let drained: PromiseWithResolvers<void> | undefined;

  const layer: Layer = (service) => async (request, connection, readBody) => {
    if (isLeaving) {
      const target = parseTarget(request);
      const path = "path" in target ? target.path : "";
      const isAnswered = drained === undefined
        ? path !== "/readyz"
        : TO_THE_END.includes(path);
      if (!isAnswered) return shuttingDown;
    }
    inFlight++;
    const read: ReadBody = async (...limits) => {
      const body = await readBody(...limits);
      // `deno serve` cuts a body off when it is told to stop, which is not the client's fault.
      const isCut = "status" in body && body.code === "bad_request";
      return isCut && drained !== undefined ? shuttingDown : body;
    };
    const answer = await service(request, connection, read); // it never rejects
    if (--inFlight === 0) drained?.resolve();
    return answer;
  };

  return {
    layer,
    /** Answers `/readyz` with 503 from now on, so that balancers send no more requests. */
    leave(): void {
      isLeaving = true;
    },
    /** Refuses new requests with 503 from now on; resolves once no request is in flight. */
    drain(): Promise<void> {
      isLeaving = true;
      drained ??= Promise.withResolvers();
      if (inFlight === 0) drained.resolve();
      return drained.promise;
    },
  };
}
