/** A service in process, and a client of it. */

import {
  memoryStorage,
  type PetDatabase,
} from "../../../adapters/memory/mod.ts";
import {
  type Client,
  type ClientOptions,
  createClient,
} from "../../../adapters/client/mod.ts";
import { apiKeys } from "../../../core/keys/api_keys.ts";
import { createHandler, type Handler } from "../../../core/handler.ts";
import type { PetStorage } from "../../../core/pets/pet_storage.ts";

/** The key that the service takes. No message of client or service contains it by chance. */
export const KEY = "pet_0A1b2C3d4E5f6G7h8I9j";

/** The base address of the service. */
export const BASE = "http://localhost/v1";

/** A service, and a client that calls it without a socket. */
export interface InProcess {
  readonly storage: PetDatabase;
  readonly handle: Handler;
  readonly client: Client;
}

/** Opens an empty service. `wrap` stands between it and its storage. */
export function inProcess(
  options: Partial<ClientOptions> = {},
  wrap: (storage: PetDatabase) => PetStorage = (storage) => storage,
): InProcess {
  const storage = memoryStorage();
  const handle = createHandler({
    storage: wrap(storage),
    keys: apiKeys([KEY]),
    onError: () => {},
  });
  const client = createClient({
    baseUrl: BASE,
    key: KEY,
    fetch: handle,
    ...options,
  });
  return { storage, handle, client };
}
