/**
 * Bytes for servers: how tests send what `fetch` would not. What they send is a {@linkcode
 * rawRequest}.
 */

import type { TestContext } from "node:test";
import { type Answer, Wire } from "../contract/wire.ts";
import { atEnd } from "./at_end.ts";
import { until } from "./time.ts";

export { rawRequest } from "../contract/wire.ts";

/** A field with the key of the tests' services. */
export const WITH_KEY = "Authorization: Bearer secret";

/**
 * Opens a connection to a server, and sends bytes, one per character. It is closed after the test.
 */
export async function openWire(
  t: TestContext,
  { port }: { readonly port: number },
  bytes = "",
): Promise<Wire> {
  const wire = await Wire.open(port, bytes);
  atEnd(t, () => wire.close());
  return wire;
}

/** Sends bytes on a new connection, and returns the first answer. */
export async function answerTo(port: number, bytes: string): Promise<Answer> {
  const wire = await Wire.open(port, bytes);
  try {
    return await wire.answer(bytes.split(" ", 1)[0]);
  } finally {
    wire.close();
  }
}

/** Sends bytes on a new connection, and returns the status of the first answer. */
export async function statusOf(port: number, bytes: string): Promise<number> {
  return (await answerTo(port, bytes)).status;
}

/** Waits until a server, which may not listen yet, answers a request with 200. */
export async function untilServed(port: number, bytes: string): Promise<void> {
  const isServed = () =>
    statusOf(port, bytes).then((status) => status === 200, () => false);
  await until("it is served", isServed);
}
