import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { PassThrough } from "node:stream";
import { clientErrorListener } from "../../../adapters/node/client_error.ts";
import { testOnNode as test } from "./on_node.ts";

test("a client that keeps sending garbage is told once what is wrong", () => {
  const socket = new PassThrough();
  const listener = clientErrorListener();
  for (const message of ["broken", "broken again"]) {
    listener(new Error(message), socket as unknown as Socket);
  }
  assert.equal(socket.destroyed, false);
  const body =
    '{"code":"bad_request","message":"Cannot read request: it is not well-formed HTTP","status":400}';
  const lines = [
    "HTTP/1.1 400 Bad Request",
    "content-type: application/json",
    "x-content-type-options: nosniff",
    "cache-control: no-store",
    `content-length: ${body.length}`,
    "connection: close",
  ];
  assert.equal(`${socket.read()}`, `${lines.join("\r\n")}\r\n\r\n${body}`);
  socket.destroy();
});
