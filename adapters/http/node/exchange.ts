/** One request and its response on Node. */

import type { IncomingMessage, Server, ServerResponse } from "node:http";

export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** True if the client sends its body only when told so (RFC 9110 §10.1.1). */
  readonly awaitsContinue: boolean;
  /**
   * The server, if it is ours. Once it stops listening, connections are closed after their
   * response.
   */
  readonly server?: Server | undefined;
  /** True once the body of the request is read to its end; `req.complete` may be true later. */
  isBodyRead?: boolean;
}

/**
 * Returns the values of a field in order, joined by a comma and a space; `null` if it is absent.
 * `raw` has names and values in turn. Node's `req.headers` drops a second `Authorization` or `Host`
 * (its document HTTP, `message.headers`), which a service must see.
 */
export function findField(raw: readonly string[], name: string): string | null {
  let found: string | null = null;
  for (let i = 0; i < raw.length; i += 2) {
    const field = raw[i];
    if (field?.length !== name.length) continue;
    if (field.toLowerCase() !== name.toLowerCase()) continue;
    const value = String(raw[i + 1]);
    found = found === null ? value : `${found}, ${value}`;
  }
  return found;
}
