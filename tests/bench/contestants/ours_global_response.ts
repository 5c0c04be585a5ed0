/**
 * Ours on Node without `NodeResponse`: what an application that forgets it gets.
 *
 * @module
 */

import { loadRuntime } from "../../../adapters/standalone/runtime.ts";
import { apiKeys, createHandler, memoryStorage } from "../../../mod.ts";
import { HOST, KEYS, PORT } from "./settings.ts";

const { serve } = await loadRuntime();
const handle = createHandler({
  storage: memoryStorage(),
  keys: apiKeys([...KEYS]),
});
await serve(handle, { port: PORT, hostname: HOST });
