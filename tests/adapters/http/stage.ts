/**
 * What tests of servers share: servers whose reported errors fail the test unless it takes them,
 * and their clients.
 */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { ServeOptions, Server } from "../../../adapters/http/server.ts";
import type { Answer, ReadBody, Service } from "../../../core/answer.ts";
import { atEnd } from "../../support/at_end.ts";
import { rawRequest } from "../../support/wire.ts";

/** The smallest request. */
export const GET = rawRequest("GET /");

/** An answer with a body. */
export function ok(body: Answer["body"]): Answer {
  return { status: 200, headers: {}, body };
}

/** A service that answers each request with this. */
export function saying(
  body: Answer["body"],
  others: Partial<Answer> = {},
): Service {
  return async () => ({ ...ok(body), ...others });
}

/** A service that answers each request with its body. */
export const sendBack: Service = async ({ headers }, _connection, readBody) => {
  const length = headers.get("content-length");
  return await readAll(readBody, length === null ? undefined : Number(length));
};

/** Reads a body, and makes an answer from it. */
export async function readAll(
  readBody: ReadBody,
  length?: number,
): Promise<Answer> {
  const limits = { maxBodyBytes: 1_000_000, bodyTimeout: 30_000 };
  const bytes = await readBody(limits, length);
  return "status" in bytes ? bytes : ok(new TextDecoder().decode(bytes));
}

/** A server that is closed after the test, which fails for what is left in `errors`. */
export interface Watched extends Server {
  /** The reported errors. */
  readonly errors: unknown[];
}

/** Serves with a test's options, on a free port unless they name one. */
export async function watch<Options extends ServeOptions>(
  t: TestContext,
  serve: (options: Options) => Promise<Server>,
  options: Options,
): Promise<Watched> {
  const errors: unknown[] = [];
  const onError = (error: unknown): number => errors.push(error);
  atEnd(t, () => assert.deepEqual(errors, []));
  const server = await serve({ port: 0, ...options, onError });
  atEnd(t, () => inTime(server.close()));
  return { ...server, errors };
}

/** Fails if something takes longer than 30 s, so that a test that hangs says so itself. */
export async function inTime(work: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const fail = () => late.reject(new Error("It takes longer than 30 s"));
  const timer = setTimeout(fail, 30_000);
  try {
    await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
