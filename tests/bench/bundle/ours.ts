/**
 * The service in memory with fixed keys, as the contestants have it, and no server.
 *
 * @module
 */

import {
  apiKeys,
  createHandler,
  type Handler,
  memoryStorage,
} from "../../../mod.ts";

/** The service. */
export const handle: Handler = createHandler({
  storage: memoryStorage(),
  keys: apiKeys(["secret"]),
});
