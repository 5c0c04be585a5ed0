import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { PassThrough } from "node:stream";
import { clientErrorListener } from "../../../adapters/node/client_error.ts";
import { testOnNode as test } from "./on_node.ts";

test("a client that keeps sending garbage still receives the 400", () => {
  const socket = new PassThrough();
  const listener = clientErrorListener();
  for (const message of ["broken", "broken again"]) {
    listener(new Error(message), socket as unknown as Socket);
  }
  assert.equal(socket.destroyed, false);
  assert.match(`${socket.read()}`, /^HTTP\/1\.1 400 /);
  socket.destroy();
});
