/** Answers whose body breaks off, stalls or drips. */

import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import {
  setImmediate as nextTurn,
  setTimeout as sleep,
} from "node:timers/promises";
import { type Answer, type Fields, withFields } from "../../core/kit.ts";
import type { Fault } from "./fault.ts";

/** How many pieces per second a dripping body has. */
const PIECES = 10;

/** The connection of a request. */
export interface Connection {
  readonly socket: Socket;
  readonly response: Pick<ServerResponse, "useChunkedEncodingByDefault">;
}

/** How an answer is sent. */
export interface Sending {
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
  /** Absent in process. */
  readonly connection?: Connection | undefined;
  /** Called with each piece of the body. */
  readonly onPiece: () => void;
  /** Called when no more will come. */
  readonly onEnd: () => unknown;
}

/** Makes the body of an answer break off, stall, or arrive slowly, if a fault says so. */
export async function breakBody(
  answer: Answer,
  fault: Fault,
  sending: Sending,
): Promise<Answer> {
  const { cut, stall, drip, framing = "length" } = fault;
  if ((cut ?? stall ?? drip) === undefined) return answer;
  const bytes = new Uint8Array(await new Response(answer.body).arrayBuffer());
  const isShort = bytes.byteLength <= (cut ?? stall ?? 0);
  if (isShort && framing === "length") return answer;
  const { "content-length": _, ...others } = answer.headers;
  const lengths: Readonly<Record<typeof framing, Fields>> = {
    length: { "content-length": String(bytes.byteLength) },
    chunked: {},
    close: { connection: "close" },
  };
  const { connection } = sending;
  if (framing === "close" && connection !== undefined) {
    connection.response.useChunkedEncodingByDefault = false;
  }
  const body = ReadableStream.from(pieces(bytes, fault, sending));
  return withFields({ ...answer, headers: others, body }, lengths[framing]);
}

async function* pieces(
  bytes: Uint8Array,
  fault: Fault,
  sending: Sending,
): AsyncGenerator<Uint8Array> {
  const { cut, stall, drip = Infinity, framing } = fault;
  const { signal, connection, onPiece, onEnd } = sending;
  const length = Math.min(bytes.byteLength, cut ?? stall ?? Infinity);
  try {
    const size = Math.min(Math.ceil(drip / PIECES), bytes.byteLength);
    for (let start = 0; start < length; start += size) {
      if (drip !== Infinity) {
        await sleep(1000 * size / drip, undefined, { signal });
      }
      onPiece();
      yield bytes.subarray(start, Math.min(start + size, length));
    }
    if (length === bytes.byteLength) return;
    if (stall !== undefined) await aborted(signal);
    if (framing === "close" && fault.reset !== true) return;
    // The header and the piece must have left the process first. Of less than 64 KiB that wait, the
    // socket emits no `drain`.
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    while (connection !== undefined && connection.socket.writableLength > 0) {
      await sleep(10, undefined, { signal });
    }
    if (fault.reset) connection?.socket.resetAndDestroy();
    throw new TypeError("terminated"); // as undici's fetch
  } finally {
    onEnd();
  }
}

/** Rejects once a signal is aborted. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
}
