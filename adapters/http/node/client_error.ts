/**
 * Answers of a Node server without a request: to bytes that are not HTTP, and to slow clients.
 */

import { STATUS_CODES } from "node:http";
import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import { Refusal } from "../../../core/kit.ts";
import { currentResponse, lastResponse } from "./pipeline.ts";
import { LINGER } from "./unread_body.ts";

const badRequest = new Refusal(
  "bad_request",
  "Cannot read the request: it is not well-formed HTTP",
);
/** RFC 6585's 431 has no code in the contract. */
export const headerTooLarge: Refusal = new Refusal(
  "bad_request",
  "Cannot read the request: its header is too large",
  { connection: "close" },
);
/** By the code of Node's error. */
const REFUSALS: Readonly<Record<string, Refusal>> = {
  "ERR_HTTP_REQUEST_TIMEOUT": new Refusal(
    "request_timeout",
    "Cannot read the request: it did not arrive in time",
  ),
  "HPE_HEADER_OVERFLOW": headerTooLarge,
};

export function clientErrorListener() {
  const refused = new WeakSet<Socket>();
  return (error: Error & { readonly code?: string }, socket: Socket): void => {
    // Node 26 reports a broken connection again with every packet that arrives
    // (`onParserExecuteCommon` in its lib/_http_server.js). Can go if
    // tests/adapters/http/node/client_error_test.ts passes without it.
    if (refused.has(socket)) return;
    refused.add(socket);
    refuse(socket, REFUSALS[String(error.code)] ?? badRequest);
  };
}

/** Answers with a refusal, once earlier requests are answered, and closes the connection. */
export function refuse(socket: Socket, refusal: Refusal): void {
  // Node 26 leaves the sockets of CONNECT without a listener, and an error without a listener ends
  // the process (same function as above). Can go if
  // tests/adapters/http/node/client_error_test.ts passes without it.
  socket.on("error", () => {});
  const last = lastResponse(socket);
  if (last !== undefined) {
    last.once("close", () => refuse(socket, refusal));
    return;
  }
  const isBegun = currentResponse(socket)?.headersSent;
  if (!socket.writable || isBegun) return void socket.destroy();
  const { status, headers, body } = refusal;
  const fields = {
    ...headers,
    "content-length": Buffer.byteLength(body),
    connection: "close",
  };
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...Object.entries(fields).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`);
  const timer = setTimeout(() => socket.destroy(), LINGER);
  socket.once("close", () => clearTimeout(timer));
}
