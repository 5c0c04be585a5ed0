/** The id of the current trace, for the log. */

import { findContexts, SPAN, type Span } from "../../core/http/trace.ts";

/** Makes the function that returns the id of the current trace, or "". */
export function traceIds(): () => string {
  const contexts = findContexts();
  return () => {
    const span = contexts?.active().getValue<Span>(SPAN);
    return span?.spanContext().traceId.replace(/^0+$/, "") ?? "";
  };
}
