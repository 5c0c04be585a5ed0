/** Uses `handle` itself as a service: no server, no socket. */

import { memoryStorage } from "../../adapters/storage/memory/mod.ts";
import { apiKeys } from "../../core/keys.ts";
import type { HandlerOptions } from "../../adapters/handler_options.ts";
import type { PetStorage } from "../../core/pets/pet_storage.ts";
import { createHandler } from "../../adapters/handler.ts";
import type { OpenService } from "../contract/ask.ts";

/** A fresh, empty service. An error inside fails no test by itself, but is a 500. */
export function handleService(
  options: Partial<HandlerOptions> = {},
): OpenService {
  const fetch = createHandler({
    storage: memoryStorage(),
    keys: apiKeys(["secret"]),
    ...options,
  });
  const { pathname } = new URL(options.baseUrl ?? "/v1", "http://localhost");
  return {
    fetch,
    base: `http://localhost${pathname === "/" ? "" : pathname}`,
    key: "secret",
    close: () => Promise.resolve(),
  };
}

/** Makes a storage whose methods all do this. */
export function storageThat(act: () => unknown): PetStorage {
  const method = act as () => Promise<never>;
  return {
    create: method,
    get: method,
    list: method,
    ping: method,
    close: method,
  };
}
