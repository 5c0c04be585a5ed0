import { type D1Binding, d1Storage } from "../../adapters/d1/mod.ts";
import { apiKeys, createHandler, type Handler } from "../../mod.ts";

interface Env {
  readonly DB: D1Binding;
  /** A secret: API keys with commas between them. */
  readonly PETSTORE_API_KEYS: string;
}

let handle: Handler | undefined;

function open(env: Env): Handler {
  const keys = apiKeys(env.PETSTORE_API_KEYS.split(","));
  return createHandler({ storage: d1Storage(env.DB), keys });
}

export default {
  fetch(request: Request, env: Env): Promise<Response> {
    handle ??= open(env);
    return handle(request);
  },
};
