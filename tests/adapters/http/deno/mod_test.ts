import assert from "node:assert/strict";
import { toHandler } from "../../../../core/handler.ts";
import { testUnless } from "../../../support/runtime.ts";
import { ok, saying } from "../stage.ts";

// Elsewhere the adapter cannot even be imported by its types.
const skip = !("Deno" in globalThis) && "only Deno has Deno.serve";
const onDeno = { test: testUnless(skip) };

onDeno.test("serve listens again 100 ms after it stopped, and tells of stops 10 s apart", async (t) => {
  const { serve } = await import("../../../../adapters/http/deno/mod.ts");
  const shutDown: number[] = [];
  const ports: unknown[] = [];
  let now = 0;
  t.mock.timers.enable({ apis: ["setTimeout"] });
  t.mock.method(performance, "now", () => now);
  const own = Object.getOwnPropertyDescriptor(Deno, "serve") ?? {};
  t.after(() => void Object.defineProperty(Deno, "serve", own));
  const fake = ({ port }: { readonly port: number }) => {
    const id = ports.push(port);
    if (id === 2) throw new Error("no descriptor for this either");
    return {
      addr: { hostname: "127.0.0.1", port: 8000 },
      finished: Promise.reject(new Error("out of descriptors")),
      shutdown: () => Promise.resolve(void shutDown.push(id)),
    };
  };
  Object.defineProperty(Deno, "serve", { value: fake, configurable: true });
  const told: unknown[] = [];
  const onError = (error: unknown): void => void told.push(error);
  const handle = toHandler(saying(""));
  const server = await serve(handle, { port: 0, onError });
  for (let count = 1; count <= 68; count++) {
    await Promise.resolve(); // the listener has stopped
    t.mock.timers.tick(99);
    assert.equal(ports.length, count);
    now += count === 68 ? 10_001 : 5000; // 10 s over the start that fails
    t.mock.timers.tick(1);
  }
  await Promise.resolve();
  assert.deepEqual(ports, [0, ...Array(68).fill(8000)]);
  assert.deepEqual(shutDown, [1, 3, 4, 5]);
  const message = "Cannot accept connections, trying again: out of descriptors";
  assert.deepEqual(told.map(String), Array(2).fill(`Error: ${message}`));
  await server.close();
  t.mock.timers.tick(100);
  assert.equal(ports.length, 69, "a closed server stays closed");
  assert.equal(new Set(shutDown).size, 68);
});

onDeno.test("serve answers 503 to what comes while it closes, and finishes what is under way", async () => {
  const { serve } = await import("../../../../adapters/http/deno/mod.ts");
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const handle = toHandler(async ({ method }) => {
    if (method !== "POST") return ok("at once");
    begun.resolve();
    await end.promise;
    return ok("done");
  });
  const server = await serve(handle, { port: 0 });
  const earlier = await fetch(server.url, { method: "PUT", body: "x" });
  assert.equal(await earlier.text(), "at once");
  const upload = fetch(server.url, { method: "POST", body: "x" });
  upload.catch(() => {}); // it is reported below
  await begun.promise;
  const closed = server.close();
  const late = await fetch(server.url);
  assert.equal(late.status, 503);
  assert.equal(JSON.parse(await late.text()).code, "service_unavailable");
  end.resolve();
  assert.equal(await (await upload).text(), "done");
  await closed;
});
