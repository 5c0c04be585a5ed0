import assert from "node:assert/strict";
import test from "node:test";
import { loadServe } from "../../../adapters/standalone/start.ts";
import {
  listenError,
  readServeOptions,
} from "../../../adapters/serve/server.ts";
import { RUNTIME } from "../../support/runtime.ts";
import { skipping } from "../../support/skipping.ts";

const serve = await loadServe();

for (
  const [hostname, host] of [
    ["127.0.0.1", "127.0.0.1"],
    ["0.0.0.0", "localhost"],
    ["::", "localhost"],
    ["::1", "[::1]"],
  ] as const
) {
  const opening = serve(() => new Response("ok"), { hostname, port: 0 });
  const server = await opening.catch(() => undefined);
  await server?.close();
  const skip = skipping(!server && `this machine has no address ${hostname}`);

  test(
    `${RUNTIME}: the url of a server on ${hostname} leads to it`,
    { skip },
    async () => {
      const server = await serve(() => new Response("ok"), {
        hostname,
        port: 0,
      });
      try {
        assert.equal(server.url, `http://${host}:${server.port}`);
        assert.equal(await (await fetch(server.url)).text(), "ok");
      } finally {
        await server.close();
      }
    },
  );
}

test("a server listens on port 8000 of 127.0.0.1 and reports to console.error unless told otherwise", () => {
  const { error: onError } = console;
  const defaults = { port: 8000, hostname: "127.0.0.1", onError };
  assert.deepEqual(readServeOptions({}), defaults);
});

test("a server that cannot listen says why in words, or as the runtime does", () => {
  for (
    const [cause, reason] of [
      [{ code: "EADDRINUSE" }, "the address is in use"],
      [{ code: "EADDRNOTAVAIL" }, "this machine does not have that address"],
      [{ code: "EACCES" }, "this user may not use that port"],
      [{ code: "ENOTFOUND" }, "the host is unknown"],
      [{ code: "EINVAL" }, "the host is unknown"],
      [{ code: "E", message: "no" }, "no"],
      ["no", "no"],
    ] as const
  ) {
    const error = listenError("a", 1, cause);
    assert.equal(error.message, `Cannot listen on a:1: ${reason}`);
    assert.equal(error.cause, cause);
  }
});
