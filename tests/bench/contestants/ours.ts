/**
 * Ours, mounted as its README says.
 *
 * @module
 */

import { loadRuntime } from "../../../adapters/standalone/runtime.ts";
import { apiKeys, createHandler, memoryStorage } from "../../../mod.ts";
import { HOST, KEYS, PORT } from "./settings.ts";

const { serve, Response } = await loadRuntime();
const handle = createHandler({
  storage: memoryStorage(),
  keys: apiKeys([...KEYS]),
  Response, // NodeResponse on Node, the global one elsewhere
});
await serve(handle, { port: PORT, hostname: HOST });
