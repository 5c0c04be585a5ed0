/** Lines about requests, for people who watch: `POST /v1/pets  lost, pet 51 added`. */

import type { Fault } from "./fault.ts";
import type { RecordedRequest } from "./journal.ts";

/** Longer targets are cut, so that a line fits on a screen. */
const MAX_TARGET = 80;

/** Describes a request that has ended. */
export function describeRequest(request: RecordedRequest): string {
  const { method, target, added, responseHeaders } = request;
  const path = target.length > MAX_TARGET
    ? `${target.slice(0, MAX_TARGET)}…`
    : target;
  const parts = [
    outcome(request),
    ...effects(request.fault ?? {}),
    added !== undefined && `pet ${added} added`,
    responseHeaders?.["idempotent-replayed"] && "replayed",
  ].filter(Boolean);
  // A terminal may act on control characters.
  return `${method} ${path}  ${parts.join(", ")}`.replace(/\p{Cc}/gu, "?");
}

function outcome({ status, fault }: RecordedRequest): string {
  if (status !== null) return String(status);
  if (fault?.lose === undefined) return "the client left";
  return fault.reset ? "reset" : "lost";
}

/** Says what a fault did besides losing the answer. */
function effects(fault: Fault): readonly (string | false)[] {
  const { delay, answer, cut, stall, drip, reset } = fault;
  return [
    answer?.status !== undefined && "instead of the true answer",
    cut !== undefined && `${reset ? "reset" : "cut"} after ${cut} bytes`,
    stall !== undefined && `stalled after ${stall} bytes`,
    drip !== undefined && `${drip} bytes per second`,
    delay !== undefined && delay > 0 && `delayed ${delay} ms`,
  ];
}
