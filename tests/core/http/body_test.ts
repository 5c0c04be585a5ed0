import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import { Refusal } from "../../../core/errors.ts";
import {
  checkMediaType,
  readText as readTextBy,
} from "../../../core/http/body.ts";
import type { BodyLimits } from "../../../core/answer.ts";
import { webBody } from "../../../core/handler.ts";
import { anyText, fc, runs } from "../../support/property.ts";

const LIMITS = { maxBodyBytes: 100, bodyTimeout: 10_000 };
const SHORT = { ...LIMITS, bodyTimeout: 5 };

/** A stream that yields one chunk per pull, and counts pulls and cancels. */
function stream(chunks: Iterable<Uint8Array>): {
  readonly body: ReadableStream<Uint8Array>;
  readonly log: { pulls: number; cancels: number };
} {
  const log = { pulls: 0, cancels: 0 };
  const iterator = chunks[Symbol.iterator]();
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      log.pulls++;
      const { done, value } = iterator.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel() {
      log.cancels++;
    },
  }, { highWaterMark: 0 });
  return { body, log };
}

function request(
  body: BodyInit | null,
  headers: Readonly<Record<string, string>> = {},
): Request {
  const init = { method: "POST", body, headers, duplex: "half" };
  return new Request("http://localhost/", init);
}

/** Reads a body as the service does if it is called with a `Request`. */
function readText(request: Request, limits: BodyLimits): Promise<unknown> {
  return readTextBy(request, limits, webBody(request));
}

function assertRefused(result: unknown, code: string): void {
  assert.ok(result instanceof Refusal, `${result}`);
  assert.equal(result.code, code, result.message);
}

test("readText ignores one byte order mark at the start (RFC 8259 §8.1)", async () => {
  const read = (text: string) =>
    readText(request(new TextEncoder().encode(text)), LIMITS);
  assert.equal(await read("\ufeff1"), "1");
  for (const text of ["\ufeff\ufeff1", "1\ufeff"]) {
    const rest = `${await read(text)}`;
    assert.throws(() => JSON.parse(rest), SyntaxError, text);
  }
});

test("readText refuses a body over the cap whose Content-Length says less", async () => {
  const read = (length: number) => {
    const { body } = stream([new Uint8Array(length).fill(32)]);
    return readText(request(body, { "content-length": "1" }), LIMITS);
  };
  assert.equal(await read(100), " ".repeat(100));
  assertRefused(await read(101), "payload_too_large");
});

// Law: an announced body, which is read at once, is read like one that is read chunk by chunk.
test("readText comes to the same with Content-Length and without", async () => {
  const text = fc.oneof(
    fc.json({ maxDepth: 2 }),
    anyText(),
    fc.constantFrom("", "1e2", "9007199254740993", "\ufeff{}"),
  ).map((text) => new TextEncoder().encode(text));
  const body = fc.oneof(text, fc.uint8Array());
  await fc.assert(
    fc.asyncProperty(body, fc.boolean(), async (bytes, isAtOnce) => {
      const read = (headers: Record<string, string>): Promise<unknown> => {
        const { body } = stream(
          Array.from(bytes, (byte) => Uint8Array.of(byte)),
        );
        const sent = isAtOnce ? new Uint8Array(bytes) : body;
        return readText(request(sent, headers), {
          ...LIMITS,
          maxBodyBytes: 20,
        });
      };
      assert.deepEqual(
        await read({ "content-length": `${bytes.byteLength}` }),
        await read({}),
      );
    }),
    runs(300),
  );
});

test("readText answers 408 if the body stops coming, and cancels it if unannounced", async () => {
  for (const headers of [{}, { "content-length": "2" }]) {
    for (const first of [[], [Uint8Array.of(0x31)]]) {
      const { promise, resolve: cancelled } = Promise.withResolvers<void>();
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (const chunk of first) controller.enqueue(chunk);
        },
        cancel: () => cancelled(),
      });
      const sent = request(body, headers);
      assertRefused(await readText(sent, SHORT), "request_timeout");
      if (!sent.headers.has("content-length")) await promise;
    }
  }
});

test("readText answers 408 if the body comes too slowly, a byte at a time", async () => {
  let timer: ReturnType<typeof setInterval> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      timer = setInterval(() => controller.enqueue(Uint8Array.of(0x20)), 2);
    },
    cancel: () => clearInterval(timer),
  });
  assertRefused(await readText(request(body), SHORT), "request_timeout");
});

test("readText answers 408 and 413 even if cancelling fails or never ends", async () => {
  const cancels = [
    () => Promise.reject(new Error("no")),
    () => new Promise<void>(() => {}),
    () => {
      throw new Error("no");
    },
  ];
  for (const cancel of cancels) {
    const silent = new ReadableStream<Uint8Array>({ cancel });
    assertRefused(await readText(request(silent), SHORT), "request_timeout");
    const large = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array(101)),
      cancel,
    });
    assertRefused(await readText(request(large), LIMITS), "payload_too_large");
  }
});

test("readText answers 408 if the read under way fails when it is cancelled", async () => {
  const { promise: read, reject } = Promise.withResolvers<never>();
  const cancel = () => {
    reject(new Error("cancelled"));
    return Promise.resolve();
  };
  const late = {
    headers: new Headers(),
    body: { getReader: () => ({ read: () => read, cancel }) },
  };
  const result = await readText(late as unknown as Request, SHORT);
  assertRefused(result, "request_timeout");
});

test("readText answers 413 for more than 256 pieces of less than 256 bytes on average", async () => {
  const limits = { ...LIMITS, maxBodyBytes: 1 << 20 };
  const spaces = (first: number, count: number) => {
    const sizes = [first, ...Array.from({ length: count - 1 }, () => 1)];
    return stream(sizes.map((size) => new Uint8Array(size).fill(32)));
  };
  const announced = (length: number) => ({ "content-length": `${length}` });
  const cases = [
    [1, 256, true],
    [65_280, 257, true],
    [0, 257, true, announced(256)],
    [1, 300, false],
    [65_279, 300, false],
    [1, 300, false, announced(300)],
  ] as const;
  for (const [first, count, isTaken, headers] of cases) {
    const { body, log } = spaces(first, count);
    const result = await readText(request(body, headers), limits);
    if (isTaken) {
      assert.equal(result, " ".repeat(first + count - 1), `${first}`);
    } else {
      assertRefused(result, "payload_too_large");
      assert.deepEqual(log, { pulls: 257, cancels: 1 }, `${first}`);
    }
  }
});

/** Keeps the calls of `setTimeout` and `clearTimeout` until the test is over. */
function watchTimers(t: TestContext) {
  // On Deno 2.9 they are accessors, which `mock.method` does not accept.
  Object.assign(globalThis, { setTimeout, clearTimeout });
  const { mock: set } = t.mock.method(globalThis, "setTimeout");
  const { mock: cleared } = t.mock.method(globalThis, "clearTimeout");
  return { set, cleared };
}

test("readText leaves no timer behind, however the body ends", async (t) => {
  const { set, cleared } = watchTimers(t);
  const broken = () =>
    new ReadableStream({ start: (controller) => controller.error() });
  const limits = { ...LIMITS, maxBodyBytes: 3 };
  for (const headers of [{}, { "content-length": "1" }]) {
    for (const body of [Uint8Array.of(0x31), new Uint8Array(4), broken()]) {
      await readText(request(body, headers), limits);
    }
  }
  const timers = set.calls.map(({ result }) => result);
  assert.deepEqual(
    cleared.calls.map(({ arguments: [timer] }) => timer),
    timers,
  );
  assert.ok(timers.length >= 3, `${timers.length}`);
});

test("readText needs no timer for a body that is there within three microtasks", async (t) => {
  const { set, cleared } = watchTimers(t);
  const headers = new Headers({ "content-length": "1" });
  for (const [turns, timers] of [[2, 0], [3, 1]] as const) {
    const arrayBuffer = async () => {
      for (let turn = 0; turn < turns; turn++) await null;
      return Uint8Array.of(0x31).buffer; // the third turn, or the fourth
    };
    const sent = { headers, body: null, arrayBuffer } as unknown as Request;
    assert.equal(await readText(sent, LIMITS), "1", `${turns}`);
    assert.deepEqual(
      [set.callCount(), cleared.callCount()],
      [timers, timers],
      `${turns}`,
    );
  }
});

// Not in the book of exchanges, because some servers drop an empty field.
for (const name of ["content-type", "content-encoding"]) {
  test(`checkMediaType refuses an empty ${name}`, () => {
    const headers = new Headers({ [name]: "" });
    assert.equal(checkMediaType(headers)?.status, 415);
  });
}
