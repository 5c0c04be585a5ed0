// Put `{"main":"worker.ts","compatibility_date":"2026-07-01","d1_databases":[{"binding":"DB"}]}` into
// wrangler.jsonc, and `PETSTORE_API_KEYS=secret` into .env, and run it with `npx wrangler dev`.
import { type D1Binding, d1Storage } from "@petstore/service/d1";
import { apiKeys, createHandler, type Handler } from "@petstore/service";

interface Env {
  readonly DB: D1Binding;
  /** A secret: API keys, separated by commas. */
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
