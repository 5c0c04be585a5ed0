/** Bodies that break off, or come slowly. */

import { setTimeout as sleep } from "node:timers/promises";
import type { Answer } from "../../core/http/message.ts";

/** Pieces a second of a body that drips faster than that. */
const PIECES = 10;

/** Breaks off an answer after so many bytes of its body; `flush` waits until those are sent. */
export async function cutAnswer(
  answer: Answer,
  length: number,
  flush: () => Promise<void>,
): Promise<Answer> {
  const bytes = await bytesOf(answer);
  if (bytes.byteLength <= length) return answer;
  let isSent = false;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (!isSent && length > 0) controller.enqueue(bytes.subarray(0, length));
      else {
        await flush();
        controller.error(new TypeError("terminated")); // as undici's fetch
      }
      isSent = true;
    },
  }, { highWaterMark: 0 });
  return streamed(answer, bytes, body);
}

/** Sends the body of an answer at so many bytes a second. */
export async function dripAnswer(
  answer: Answer,
  rate: number,
): Promise<Answer> {
  const bytes = await bytesOf(answer);
  const size = Math.max(1, Math.round(rate / PIECES));
  const cancelled = new AbortController();
  let start = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (start >= bytes.byteLength) return controller.close();
      const { signal } = cancelled;
      const isOver = await sleep(1000 * size / rate, false, { signal })
        .catch(() => true);
      if (isOver) return;
      controller.enqueue(bytes.subarray(start, start + size));
      start += size;
    },
    cancel: () => cancelled.abort(),
  }, { highWaterMark: 0 });
  return bytes.byteLength === 0 ? answer : streamed(answer, bytes, body);
}

async function bytesOf({ body }: Answer): Promise<Uint8Array> {
  return new Uint8Array(await new Response(body).arrayBuffer());
}

function streamed(
  answer: Answer,
  { byteLength }: Uint8Array,
  body: ReadableStream<Uint8Array>,
): Answer {
  const headers = { ...answer.headers, "content-length": String(byteLength) };
  return { ...answer, headers, body };
}
