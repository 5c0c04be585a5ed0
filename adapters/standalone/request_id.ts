/** The layer that gives each request an id, in the header field `X-Request-Id` of its answer. */

import { type Layer, withFields } from "../../core/http/message.ts";

/** A client's own request id is kept if it is 1 to 128 unreserved characters. */
const WELL_FORMED_ID = /^[A-Za-z0-9._~-]{1,128}$/;

/** Makes the layer. */
export function requestIdLayer(): Layer {
  // No other process and no other start makes the same ids.
  const prefix = crypto.randomUUID().replaceAll("-", "").slice(0, 20);
  let count = 0;
  return (service) => async (request, connection) => {
    const sent = request.headers.get("x-request-id");
    const id = sent !== null && WELL_FORMED_ID.test(sent)
      ? sent
      : `${prefix}-${++count}`;
    return withFields(await service(request, connection), {
      "x-request-id": id,
    });
  };
}
