/** One request and its response on Node, and how to learn that the client is gone. */

import type { Server, ServerResponse } from "node:http";
import type { NodeBody, NodeMessage } from "./body.ts";

export interface Exchange {
  readonly req: NodeMessage;
  readonly res: ServerResponse;
  /** True if the client sends its body only when told so (RFC 9110 §10.1.1). */
  readonly awaitsContinue: boolean;
  /** The server, if it is ours; once it stops listening, connections are closed after their response. */
  readonly server?: Server | undefined;
  /** The body of the request, from when it is first asked for. */
  body?: NodeBody;
}

/** Calls back once if the client goes away before its response is out; never after that. */
export function whenGone({ req, res }: Exchange, callback: () => void): void {
  const { socket, stream } = req;
  let isDecided = false;

  function check(): void {
    // In HTTP/2 a response that was cut off has "finished" too (Node 26; nodejs/node#38916). Can go if
    // tests/adapters/http/node/http2_test.ts passes without it.
    const isAborted = stream?.aborted === true;
    const isOut = res.writableFinished && !isAborted;
    const isGone = isAborted || res.destroyed || socket.destroyed;
    // A listener that is removed while others are called is still called (Node's document Events, `removeListener`).
    if (isDecided || !isOut && !isGone) return;
    isDecided = true;
    socket.off("close", check);
    if (!isOut) callback();
  }

  res.on("close", check);
  // Node 22 tells a response nothing as long as it waits behind another (pipelining), because it has no socket yet.
  // Goes with Node 22: Node 26 tells it (`abortOutgoing` in its lib/_http_server.js), and there
  // tests/adapters/http/node/pipeline_test.ts passes without it. Each pipelined request adds a listener to the same socket.
  socket.setMaxListeners(0).on("close", check);
  check();
}
