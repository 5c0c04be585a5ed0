/**
 * Clients of a service in process, and of a network that does what a test says: responses and faults in
 * order, and a clock that never waits.
 */

import assert from "node:assert/strict";
import {
  type Client,
  type ClientOptions,
  createClient,
  PetStoreError,
} from "../../../adapters/client/mod.ts";
import { makeClient } from "../../../adapters/client/client.ts";
import {
  readOptions,
  type Settings,
} from "../../../adapters/client/options.ts";
import {
  apiKeys,
  createHandler,
  type Handler,
  memoryStorage,
  type PetStorage,
} from "../../../mod.ts";
import type { PetDatabase } from "../../../adapters/storage/memory/mod.ts";

/** The key that the service accepts. No message of client or service contains it by chance. */
export const KEY = "pet_0A1b2C3d4E5f6G7h8I9j";

/** The base address of the service. */
export const BASE = "http://localhost/v1";

/** Opens an empty service and a client of it, without a socket. `wrap` wraps the storage. */
export function inProcess(
  wrap: (storage: PetDatabase) => PetStorage = (storage) => storage,
): {
  readonly storage: PetDatabase;
  readonly handle: Handler;
  readonly client: Client;
} {
  const storage = memoryStorage();
  const handle = createHandler({
    storage: wrap(storage),
    keys: apiKeys([KEY]),
    onError: () => {},
  });
  const client = createClient({ baseUrl: BASE, key: KEY, fetch: handle });
  return { storage, handle, client };
}

/** The answer to one request: a response, or whatever it returns or throws. */
export type Step =
  | Response
  | ((request: Request) => Response | Promise<Response>);

/** A clock for tests. Pauses end at once; what waits for `timeout` ends when told to. */
export interface TestClock extends Pick<Settings, "now" | "setTimer"> {
  /** The pauses so far, in ms. */
  readonly pauses: readonly number[];
  /** The number of timers that are set. */
  readonly live: number;
  /** Fires all timers. */
  expire(): void;
}

/** The timeout of scripted clients, in ms. */
export const TIMEOUT = 12_345;

/** Makes a clock that begins at `start`. With `holds`, pauses too end only when told to. */
export function testClock(
  { start = 0, holds = false }: { start?: number; holds?: boolean } = {},
): TestClock {
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
    setTimer(ms, callback) {
      const id = Symbol();
      live.set(id, callback);
      if (ms !== TIMEOUT) {
        pauses.push(ms);
        time += ms;
        if (!holds) queueMicrotask(() => goOff(id));
      }
      return () => void live.delete(id);
    },
    pauses,
    get live() {
      return live.size;
    },
    expire() {
      for (const id of [...live.keys()]) goOff(id);
    },
  };
}

/** A client whose requests meet the steps in order, and their outcomes. */
export interface Scripted {
  readonly client: Client;
  readonly clock: TestClock;
  /** The requests so far. */
  readonly requests: readonly Request[];
}

/** Makes a client with a script. A request beyond its end fails the test. */
export function scripted(
  steps: readonly Step[],
  { clock = testClock(), random = () => 0.5, ...options }:
    & Partial<ClientOptions>
    & { readonly clock?: TestClock; readonly random?: () => number } = {},
): Scripted {
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

/** A body in chunks, and its outcome. */
export interface WatchedBody {
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** `open` until it is read to its end, cancelled, or fails. */
  readonly fate: "open" | "read" | "cancelled" | "failed";
}

/** Makes a body that ends after its chunks, never ends, or fails. */
export function watchedBody(
  chunks: readonly string[],
  end: "ends" | "hangs" | "fails" = "ends",
): WatchedBody {
  let fate: WatchedBody["fate"] = "open";
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
