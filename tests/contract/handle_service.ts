/** `handle` itself as a service to talk to: no server, no socket. @module */

import { memoryStorage } from "../../adapters/memory/mod.ts";
import { apiKeys } from "../../core/keys/api_keys.ts";
import { createHandler } from "../../core/handler.ts";
import type { HandlerOptions } from "../../core/service.ts";
import type { OpenService } from "./ask.ts";

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
