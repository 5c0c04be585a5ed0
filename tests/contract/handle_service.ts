/** `handle` itself as a service to talk to: no server, no socket. */

import { memoryStorage } from "../../adapters/memory/mod.ts";
import { apiKeys } from "../../core/keys/api_keys.ts";
import { createHandler, type HandlerOptions } from "../../core/handler.ts";
import { issuedKeys } from "../../core/keys/issued_keys.ts";
import type { PetStorage } from "../../core/pets/pet_storage.ts";
import type { OpenService } from "./ask.ts";
import type { KeepsApiKeys } from "./storage/mod.ts";

/** A fresh and empty service; what goes wrong inside fails nothing by itself, but is a 500. */
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

/** A service on an empty storage, with a key that it issued. */
export async function storageService(
  storage: PetStorage & KeepsApiKeys,
): Promise<OpenService> {
  const keys = issuedKeys(storage.apiKeys);
  const { key } = await keys.issue("the contract");
  const close = () => storage.close();
  return { ...handleService({ storage, keys }), key, close };
}

/** Makes a storage of which every method does this. */
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
