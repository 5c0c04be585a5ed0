/** One request and its response on Node. */

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Http2Stream } from "node:http2";

/** A request. If it has a stream, it is an HTTP/2 request. */
export type NodeMessage = IncomingMessage & {
  readonly stream?: Http2Stream;
};

export interface Exchange {
  readonly req: NodeMessage;
  readonly res: ServerResponse;
  /** True if the client sends its body only when told so (RFC 9110 §10.1.1). */
  readonly awaitsContinue: boolean;
  /**
   * The server, if it is ours. Once it stops listening, connections are closed after their
   * response.
   */
  readonly server?: Server | undefined;
  /** True once the body of the request is read to its end. */
  isBodyRead?: boolean;
}
