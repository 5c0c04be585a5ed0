import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { serve as serveOnBun } from "../../../adapters/http/bun/mod.ts";
import { serve as serveOnNode } from "../../../adapters/http/node/mod.ts";
import { loadServe } from "../../../adapters/standalone/start.ts";
import { toHandler } from "../../../core/handler.ts";
import { serverContract } from "./server_contract.ts";
import { saying } from "./stage.ts";
import { atEnd } from "../../support/at_end.ts";
import { RUNTIME, testUnless } from "../../support/runtime.ts";

const register = (title: string, check: (t: TestContext) => Promise<void>) =>
  test(`${RUNTIME}: ${title}`, check);
serverContract(register, await loadServe());

const handle = toHandler(() => Promise.reject(new Error("not called")));

test(`${RUNTIME}: serve rejects if the host is unknown, and says so`, async () => {
  const serve = await loadServe();
  for (const hostname of ["a b", "256.1.1.1"]) {
    await assert.rejects(
      async () => await serve(handle, { port: 0, hostname }),
      // Without a network Bun and Node say EAGAIN and EAI_AGAIN.
      /^Error: Cannot listen on (a b|256.1.1.1):0: (the host is unknown$|.*AGAIN)/,
      hostname,
    );
  }
});

const skip = RUNTIME !== "bun" && "it is about Bun";
const onBun = { test: testUnless(skip) };

onBun.test("serve of Node's adapter refuses to run on Bun, because it could not close", async () => {
  await assert.rejects(
    serveOnNode(handle),
    /@petstore\/service\/bun/,
  );
});

onBun.test("serve on Bun takes bodies up to its limit, 1 MiB by default", async (t) => {
  const handle = toHandler(saying(""));
  for (
    const [limit, options] of [
      [5, { maxRequestBodySize: 5 }],
      [1_048_576, {}],
    ] as const
  ) {
    const { url, close } = await serveOnBun(handle, { port: 0, ...options });
    atEnd(t, close);
    for (
      const [length, status] of [[limit, 200], [limit + 1, 413]] as const
    ) {
      const body = "a".repeat(length);
      assert.equal(
        (await fetch(url, { method: "POST", body })).status,
        status,
        `${length}`,
      );
    }
  }
});
