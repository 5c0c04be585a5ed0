/** Tests of what only Node has. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import process from "node:process";
import { after, test } from "node:test";
import {
  type NodeListener,
  type NodeServeOptions,
  serve,
} from "../../../../adapters/http/node/mod.ts";
import { toHandler } from "../../../../core/handler.ts";
import type { Answer, ReadBody } from "../../../../core/http/message.ts";
import {
  apiKeys,
  createHandler,
  type Handler,
  type HandlerOptions,
  memoryStorage,
} from "../../../../mod.ts";
import { Wire } from "../../../contract/wire.ts";
import { portOf } from "../../../support/process.ts";
import { RUNTIME } from "../../../support/runtime.ts";

const isNode = RUNTIME === "node";

/** `test` for what only Node has; elsewhere it is skipped. */
export const testOnNode: typeof test.skip = isNode ? test : test.skip;

after(async () => {
  if (!isNode) return;
  await new Promise(setImmediate); // the last client may still be leaving
  const left = process.getActiveResourcesInfo();
  assert(!left.includes("Timeout"), "a timer outlives its client");
});

/** Serves `handle` while `use` speaks to it; returns the errors that were reported. */
export async function speaking(
  handle: Handler,
  use: (wire: Wire) => Promise<void>,
  options: NodeServeOptions = {},
): Promise<readonly unknown[]> {
  const errors: unknown[] = [];
  const onError = (error: unknown): number => errors.push(error);
  const server = await serve(handle, { ...options, port: 0, onError });
  const wire = await Wire.open(server.port);
  try {
    await use(wire);
  } finally {
    wire.close();
    await server.close();
  }
  return errors;
}

/** As {@linkcode speaking}; asserts that no error was reported. */
export async function speakingWell(
  handle: Handler,
  use: (wire: Wire) => Promise<void>,
): Promise<void> {
  assert.deepEqual(await speaking(handle, use), []);
}

/** As {@linkcode speaking}, to a server that is somebody else's. */
export async function speakingTo(
  listener: NodeListener,
  use: (wire: Wire) => Promise<void>,
): Promise<void> {
  const server = createServer(listener);
  const wire = await Wire.open(await portOf(server));
  try {
    await use(wire);
  } finally {
    wire.close();
    server.close();
  }
}

export const GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
export const POST = "POST / HTTP/1.1\r\nHost: a\r\n";

/** The service, with the key `secret`. */
export function pets(options: Partial<HandlerOptions> = {}): Handler {
  const keys = apiKeys(["secret"]);
  return createHandler({ storage: memoryStorage(), keys, ...options });
}

/** A handler that answers each request with this. */
export function saying(
  body: Answer["body"],
  { status = 200, headers = {} }: Partial<Answer> = {},
): Handler {
  return toHandler(async () => ({ status, headers, body }));
}

/** Makes an answer of a text. */
export function ok(body: Answer["body"]): Answer {
  return { status: 200, headers: {}, body };
}

/** A handler that answers each request with its body. */
export const echo: Handler = toHandler(
  async ({ headers }, _connection, readBody) => {
    const length = headers.get("content-length");
    return await readAll(
      readBody,
      length === null ? undefined : Number(length),
    );
  },
);

/** Reads a body, and makes an answer of it. */
export async function readAll(
  readBody: ReadBody,
  length?: number,
): Promise<Answer> {
  const limits = { maxBodyBytes: 1_000_000, bodyTimeout: 30_000 };
  const bytes = await readBody(limits, length);
  return bytes instanceof Uint8Array
    ? ok(new TextDecoder().decode(bytes))
    : bytes;
}

/** The bytes of a request with the key. */
export function withKey(
  line: string,
  body = "",
  fields = `Content-Length: ${body.length}\r\n`,
): string {
  return `${line} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer secret\r\n${fields}\r\n${body}`;
}

export function streamOf(
  ...chunks: (string | Promise<string>)[]
): ReadableStream<Uint8Array> {
  return ReadableStream.from(chunks).pipeThrough(new TextEncoderStream());
}
