import assert from "node:assert/strict";
import test from "node:test";
import {
  listenError,
  listening,
  readServeOptions,
} from "../../../adapters/http/server.ts";
import { serve as serveOnBun } from "../../../adapters/http/bun/mod.ts";
import { serve as serveOnDeno } from "../../../adapters/http/deno/mod.ts";
import { apiKeys, createHandler, memoryStorage } from "../../../mod.ts";
import { RUNTIME } from "../../support/runtime.ts";

test("serve on another runtime says which entry has the right one", async () => {
  const storage = memoryStorage();
  const handle = createHandler({ storage, keys: apiKeys(["secret"]) });
  for (const [name, serve] of [["bun", serveOnBun], ["deno", serveOnDeno]]) {
    if (name === RUNTIME) continue;
    await assert.rejects(
      (serve as typeof serveOnDeno)(handle, { port: 0 }),
      RegExp(`^TypeError: Cannot serve on .*@petstore/service/${RUNTIME}$`),
      `${name}`,
    );
  }
});

test("the URL of a server is one that a client on the same machine can use", () => {
  const hosts = {
    "a": "a",
    "0.0.0.0": "localhost",
    "::": "localhost",
    "::1": "[::1]",
    "[::1]": "[::1]",
  };
  for (const [hostname, host] of Object.entries(hosts)) {
    const { url } = listening({ hostname, port: 80 }, () => Promise.resolve());
    assert.equal(url, `http://${host}:80`);
  }
});

test("an IPv6 address to listen on may be in brackets, which Node does not accept", () => {
  for (const hostname of ["::1", "[::1]"]) {
    assert.equal(readServeOptions({ hostname }).hostname, "::1", hostname);
  }
  // Not empty, which Node takes for every address.
  assert.equal(readServeOptions({ hostname: "[]" }).hostname, "[]");
});

test("a server that cannot listen says why in words, or as the runtime does", () => {
  const cases = [
    [{ code: "EADDRINUSE" }, "the address is in use"],
    [{ code: "EADDRNOTAVAIL" }, "this machine does not have that address"],
    [{ code: "EACCES" }, "this user may not use that port"],
    [{ code: "ENOTFOUND" }, "the host is unknown"],
    [{ code: "EINVAL" }, "the host is unknown"],
    [{ code: "E", message: "no" }, "no"],
    ["no", "no"],
  ] as const;
  for (const [cause, reason] of cases) {
    const error = listenError("a", 1, cause);
    assert.equal(error.message, `Cannot listen on a:1: ${reason}`);
    assert.equal(error.cause, cause, reason);
  }
});
