import assert from "node:assert/strict";
import test from "node:test";
import { serve } from "../../../adapters/node/mod.ts";
import { loadServe } from "../../../adapters/standalone/start.ts";
import { testFetchServer } from "../../contract/fetch_server_contract.ts";
import { RUNTIME } from "../../support/runtime.ts";

testFetchServer(RUNTIME, await loadServe());

test(
  "serve of Node's adapter refuses to run on Bun, because it could not close",
  {
    skip: RUNTIME !== "bun",
  },
  async () => {
    await assert.rejects(
      serve(() => new Response()),
      /@petstore\/service\/bun/,
    );
  },
);
