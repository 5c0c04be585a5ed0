/** The HTTP contract, judged on `handle` itself: no server, no socket. */
import { memoryStorage } from "../../adapters/storage/memory.ts";
import { apiKeys } from "../../core/api_keys.ts";
import { createHandler } from "../../core/handle.ts";
import { httpContract } from "../contract/http_contract.ts";

httpContract("handle", () => {
  const fetch = createHandler({
    storage: memoryStorage(),
    keys: apiKeys(["secret"]),
  });
  return Promise.resolve({
    fetch,
    base: "http://localhost/v1",
    key: "secret",
    close: () => Promise.resolve(),
  });
});
