import assert from "node:assert/strict";
import test from "node:test";

// Elsewhere the adapter cannot even be imported by its types.
const skip = !("Deno" in globalThis) && "only Deno has Deno.serve";

test(
  "serve keeps the last 64 listeners that stopped, and shuts older ones down",
  { skip },
  async (t) => {
    const { serve } = await import("../../../adapters/deno/mod.ts");
    const shutDown: number[] = [];
    let listeners = 0;
    let onStarted = (): void => {};
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const own = Object.getOwnPropertyDescriptor(Deno, "serve") ?? {};
    t.after(() => void Object.defineProperty(Deno, "serve", own));
    const fake = () => {
      const id = ++listeners;
      onStarted();
      return {
        addr: { hostname: "127.0.0.1", port: 8000 },
        finished: Promise.reject(new Error("out of descriptors")),
        shutdown() {
          shutDown.push(id);
          return Promise.resolve();
        },
      };
    };
    Object.defineProperty(Deno, "serve", { value: fake, configurable: true });
    const told: unknown[] = [];
    const onError = (error: unknown): void => void told.push(error);
    const server = await serve(() => new Response(), { onError });
    while (listeners < 67) {
      const started = new Promise<void>((resolve) => onStarted = resolve);
      await Promise.resolve(); // the listener has stopped
      t.mock.timers.tick(100);
      await started;
    }
    assert.deepEqual(shutDown, [1, 2, 3]);
    assert.equal(told.length, 1, "stops that follow each other are one event");
    await server.close();
    assert.equal(new Set(shutDown).size, 67);
  },
);

test(
  "serve answers 503 to what comes while it closes, and finishes an upload under way",
  { skip },
  async () => {
    const { serve } = await import("../../../adapters/deno/mod.ts");
    const begun = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const server = await serve(async ({ method }) => {
      if (method === "GET") return new Response("too late");
      begun.resolve();
      await end.promise;
      return new Response("done");
    }, { port: 0 });
    const upload = fetch(server.url, { method: "POST", body: "x" });
    await begun.promise;
    const closed = server.close();
    const late = await fetch(server.url);
    assert.equal(late.status, 503);
    assert.equal(JSON.parse(await late.text()).code, "service_unavailable");
    end.resolve();
    assert.equal(await (await upload).text(), "done");
    await closed;
  },
);
