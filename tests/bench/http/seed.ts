/**
 * The animals that every server has before it is measured. They are added over HTTP, one after the
 * other, so that they have the same ids everywhere; and so that every server has warmed up.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { connect } from "node:net";
import { KEY } from "./cases.ts";

const NAMES = [
  "Rex",
  "Luna",
  "Zoë",
  "Bella",
  "Mr Whiskers",
  "Müsli",
  "Charlie",
];
const STATUSES = ["available", "pending", "sold"];

/** Adds animals to a server, over one connection: `fetch` would take five times as long. */
export function seed(port: number, count: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let added = 0;
    let answer = "";
    const next = (): boolean => socket.write(request(added));
    const socket = connect(port, "127.0.0.1", next);
    socket.setNoDelay(true);
    socket.setEncoding("latin1").on("data", (text) => {
      answer += text;
      // The answer is one JSON object, with Content-Length or in chunks.
      if (!/\}(?:\r\n0\r\n\r\n)?$/.test(answer)) return;
      if (!answer.startsWith("HTTP/1.1 201 ")) return void socket.destroy();
      answer = "";
      added++;
      if (added === count) socket.end();
      else next();
    });
    socket.on("error", reject).on("close", () => {
      if (added === count) resolve();
      else reject(new Error(`Cannot add animal ${added + 1}: ${answer}`));
    });
  });
}

function request(i: number): string {
  const body = JSON.stringify({
    name: `${NAMES[i % NAMES.length]} ${i + 1}`,
    categoryId: 1 + i % 12,
    status: STATUSES[i % STATUSES.length],
  });
  return "POST /v1/pets HTTP/1.1\r\nHost: 127.0.0.1\r\n" +
    `Authorization: Bearer ${KEY}\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
