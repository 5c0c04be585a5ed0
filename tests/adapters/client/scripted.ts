/**
 * Clients of a service in process, and of a network that does what a test says: responses and faults in
 * order, and a clock that never waits.
 */

import assert from "node:assert/strict";
import {
  type ClientOptions,
  createClient,
  PetStoreError,
} from "../../../adapters/client/mod.ts";
import { makeClient } from "../../../adapters/client/client.ts";
import { readOptions } from "../../../adapters/client/options.ts";
import { apiKeys, createHandler, memoryStorage } from "../../../mod.ts";

/** The key that the service accepts. No message of client or service contains it by chance. */
export const KEY = "pet_0A1b2C3d4E5f6G7h8I9j";

/** The base address of the service. */
export const BASE = "http://localhost/v1";

/** Opens an empty service and a client of it, without a socket. */
export function inProcess() {
  const storage = memoryStorage();
  const handle = createHandler({ storage, keys: apiKeys([KEY]) });
  const client = createClient({ baseUrl: BASE, key: KEY, fetch: handle });
  return { storage, handle, client };
}

/** The answer to one request: a response, or whatever it returns or throws. */
export type Step =
  | Response
  | ((request: Request) => Response | Promise<Response>);

/** The timeout of scripted clients, in ms. */
const TIMEOUT = 12_345;

/**
 * Makes a clock that begins at `start`. Pauses end at once, but with `holds` only when told to, as
 * what waits for `timeout` does.
 */
export function testClock({ start = 0, holds = false } = {}) {
  let time = start;
  const pauses: number[] = [];
  const live = new Map<symbol, () => void>();
  function goOff(id: symbol): void {
    const callback = live.get(id);
    live.delete(id);
    callback?.();
  }
  return {
    now: () => time,
    setTimer(ms: number, callback: () => void): () => void {
      const id = Symbol();
      live.set(id, callback);
      if (ms !== TIMEOUT) {
        pauses.push(ms);
        time += ms;
        if (!holds) queueMicrotask(() => goOff(id));
      }
      return () => void live.delete(id);
    },
    /** The pauses so far, in ms. */
    pauses,
    /** The number of timers that are set. */
    get live(): number {
      return live.size;
    },
    /** Fires all timers. */
    expire(): void {
      for (const id of [...live.keys()]) goOff(id);
    },
  };
}

/**
 * Makes a client whose requests meet the steps in order. A request beyond the last one fails the
 * test.
 */
export function scripted(
  steps: readonly Step[],
  { clock = testClock(), random = () => 0.5, ...options }:
    & Partial<ClientOptions>
    & {
      readonly clock?: ReturnType<typeof testClock>;
      readonly random?: () => number;
    } = {},
) {
  const requests: Request[] = [];
  const settings = readOptions({
    baseUrl: BASE,
    key: KEY,
    timeout: TIMEOUT,
    ...options,
    fetch(request) {
      const step = steps[requests.length];
      requests.push(request);
      assert.ok(step, `request ${requests.length} is one too many`);
      return typeof step === "function" ? step(request) : step;
    },
  });
  const { now, setTimer } = clock;
  const client = makeClient({ ...settings, now, setTimer, random });
  return { client, clock, requests };
}

/** A response with a JSON body. */
export function json(
  text: string,
  { status = 200, headers = {} }: {
    status?: number;
    headers?: Record<string, string>;
  } = {},
): Response {
  return new Response(text, {
    status,
    headers: { "content-type": "application/json", ...headers },
  });
}

/** A response of the service itself that refuses a request. */
export function refusal(
  code: string,
  status: number,
  headers: Record<string, string> = {},
  message = "No",
): Response {
  return json(JSON.stringify({ code, message, status }), { status, headers });
}

/** An error page like those of proxies. */
export function page(
  status: number,
  headers: Record<string, string> = {},
): Response {
  return new Response(
    `<html><h1>${status}</h1>${"<p>sorry</p>".repeat(1000)}</html>`,
    { status, headers: { "content-type": "text/html", ...headers } },
  );
}

/** Throws as `fetch` does if there is no connection. */
export function noConnection(): never {
  throw new TypeError("fetch failed");
}

/** Writes a pet as JSON. */
export function petJson(id: bigint, name = "Rex"): string {
  return `{"id":${id},"name":${
    JSON.stringify(name)
  },"categoryId":1,"status":"available"}`;
}

/** Makes a body that ends after its chunks, never ends, or fails. */
export function watchedBody(
  chunks: readonly string[],
  end: "ends" | "hangs" | "fails" = "ends",
) {
  let fate: "open" | "read" | "cancelled" | "failed" = "open";
  let sent = 0;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      const chunk = chunks[sent++];
      if (chunk !== undefined) {
        controller.enqueue(new TextEncoder().encode(chunk));
      } else if (end === "ends") {
        fate = "read";
        controller.close();
      } else if (end === "fails") {
        fate = "failed";
        controller.error(new TypeError("terminated"));
      } else {
        return new Promise(() => {});
      }
    },
    cancel() {
      fate = "cancelled";
    },
  }, { highWaterMark: 0 });
  return {
    body,
    /** `open` until it is read to its end, cancelled, or fails. */
    get fate() {
      return fate;
    },
  };
}

/** Awaits the {@linkcode PetStoreError} that a call must reject with. */
export async function failure(
  promise: Promise<unknown>,
): Promise<PetStoreError> {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof PetStoreError, `rejected with ${error}`);
    return error;
  }
  assert.fail("it was fulfilled");
}
