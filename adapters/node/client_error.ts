/**
 * What a Node server does with what is no request: bytes that are not HTTP, and clients too slow.
 *
 * @module
 */

import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import {
  BAD_REQUEST,
  HEADER_TOO_LARGE,
  type Refusal,
  refusalFields,
  REQUEST_TIMEOUT,
} from "../serve/refusal.ts";

/** How long a refused client is listened to, so that it can read why, in ms. */
const LINGER = 1000;

/** The answer that has its turn on a connection; `undefined` where the connection is idle. */
export function currentAnswer(socket: Socket): ServerResponse | undefined {
  // The only place where Node says so; its own closeIdleConnections() looks here as well.
  const { _httpMessage } = socket as { _httpMessage?: ServerResponse | null };
  return _httpMessage ?? undefined;
}

/** Answers `clientError` events. */
export function clientErrorListener(): (error: Error, socket: Socket) => void {
  const refused = new WeakSet<Socket>();
  return (error, socket) => {
    // Node reports a broken connection again with every packet that arrives.
    if (refused.has(socket)) return;
    refused.add(socket);
    const current = currentAnswer(socket);
    if (current?.req.complete) {
      // A request before this one is still to be answered; nothing may come between.
      current.shouldKeepAlive = false;
      current.once("close", () => socket.destroySoon());
    } else if (socket.writable && !current?.headersSent) {
      refuse(socket, refusalOf(error));
    } else {
      socket.destroy();
    }
  };
}

/** Writes a refusal to a connection that has no answer under way, and closes it. */
export function refuse(socket: Socket, refusal: Refusal): void {
  const lines = [`HTTP/1.1 ${refusal.status} ${refusal.reason}`];
  const fields = [...refusalFields(refusal), "connection", "close"];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    lines.push(`${fields[i]}: ${fields[i + 1]}`);
  }
  socket.end(`${lines.join("\r\n")}\r\n\r\n${refusal.body}`);
  const timer = setTimeout(() => socket.destroy(), LINGER);
  socket.once("close", () => clearTimeout(timer));
}

function refusalOf(error: Error): Refusal {
  switch ("code" in error ? error.code : undefined) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return REQUEST_TIMEOUT;
    case "HPE_HEADER_OVERFLOW":
      return HEADER_TOO_LARGE;
    default:
      return BAD_REQUEST;
  }
}
