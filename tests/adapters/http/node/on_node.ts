/** Tests of what only Node has. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { Socket } from "node:net";
import process from "node:process";
import { after, test, type TestContext } from "node:test";
import {
  type NodeListener,
  type NodeServeOptions,
  serve,
  toNodeListener,
} from "../../../../adapters/http/node/mod.ts";
import { toHandler } from "../../../../core/handler.ts";
import {
  apiKeys,
  createHandler,
  type HandlerOptions,
  memoryStorage,
  type Service,
} from "../../../../mod.ts";
import type { Answer, Wire } from "../../../contract/wire.ts";
import { RUNTIME } from "../../../support/runtime.ts";
import { listenOn } from "../../../support/server.ts";
import { turns, until } from "../../../support/time.ts";
import { openWire } from "../../../support/wire.ts";
import { GET, ok, watch } from "../stage.ts";

const isNode = RUNTIME === "node";

/** `test` for what only Node has; elsewhere it is skipped. */
export const testOnNode: typeof test.skip = isNode ? test : test.skip;

after(async () => {
  if (!isNode) return;
  const isLeft = () => process.getActiveResourcesInfo().includes("Timeout");
  // The last client may still be leaving.
  for (let turn = 0; turn < 1000 && isLeft(); turn++) await turns(1);
  assert(!isLeft(), "a timer outlives its client");
});

/** A connection to a server, which fails the test for reported errors that are left in `errors`. */
export interface Spoken {
  readonly wire: Wire;
  readonly errors: unknown[];
  /** Resolves once the server has read this many bytes of the connection. */
  received(count: number): Promise<void>;
  /** Closes the server. */
  stop(): Promise<void>;
  /** Hangs up and closes the server, which by then has reported everything. */
  close(): Promise<void>;
}

/** Serves a service, and connects to it. */
export async function speak(
  t: TestContext,
  service: Service,
  options: NodeServeOptions = {},
): Promise<Spoken> {
  let socket: Socket | undefined;
  const handle = toHandler((request, connection, readBody) => {
    socket = connection as Socket;
    return service(request, connection, readBody);
  });
  const all = await watch(t, (all) => serve(handle, all), options);
  const wire = await openWire(t, all);
  return {
    wire,
    errors: all.errors,
    received: (count) =>
      until(`${count} bytes`, () => (socket?.bytesRead ?? 0) >= count),
    stop: all.close,
    close: () => (wire.close(), all.close()),
  };
}

/** Asserts that an answer, begun or not, is the last of its connection if this happens before its end. */
export async function assertLast(
  t: TestContext,
  happen: (spoken: Spoken) => Promise<void> | void,
): Promise<void> {
  for (const isBegun of [false, true]) {
    const { promise: rest, resolve } = Promise.withResolvers<string>();
    let isAsked = false;
    const service: Service = async () => {
      isAsked = true;
      return ok(isBegun ? streamOf(rest) : await rest);
    };
    const spoken = await speak(t, service, { keepAliveTimeout: 0 });
    const { wire } = spoken;
    wire.write(GET);
    await until("a request", () => isBegun ? wire.received !== "" : isAsked);
    await happen(spoken);
    resolve("ok");
    const { lines, body } = await wire.answer();
    assert.equal(body, "ok", `${isBegun}`);
    assert.equal(lines.includes("connection: close"), !isBegun, `${isBegun}`);
    assert.equal(await wire.rest(), "", `${isBegun}`);
  }
}

/** Sends bytes to a server of a service, and returns its answer and the errors that were reported. */
export async function answerOf(
  t: TestContext,
  service: Service,
  bytes: string = GET,
  options: NodeServeOptions = {},
): Promise<Answer & { readonly errors: readonly unknown[] }> {
  const { wire, errors, close } = await speak(t, service, options);
  wire.write(bytes);
  const answer = await wire.answer(bytes.split(" ")[0]);
  await close();
  return { ...answer, errors: errors.splice(0) };
}

/** The request listener of a service. */
export function listenerOf(service: Service): NodeListener {
  return toNodeListener(toHandler(service));
}

/** Serves a listener on a third-party server, and connects to it. */
export async function speakTo(
  t: TestContext,
  listener: NodeListener,
): Promise<Wire> {
  const port = await listenOn(t, createServer(listener));
  return await openWire(t, { port });
}

/** The service, with the key `secret`. */
export function pets(options: Partial<HandlerOptions> = {}): Service {
  const keys = apiKeys(["secret"]);
  return createHandler({ storage: memoryStorage(), keys, ...options }).answer;
}

export function streamOf(
  ...chunks: (string | Promise<string>)[]
): ReadableStream<Uint8Array> {
  return ReadableStream.from(chunks).pipeThrough(new TextEncoderStream());
}
