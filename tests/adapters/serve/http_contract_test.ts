/** The HTTP contract over real sockets: on the runtime of the tests, and on every other there is. */
import { loadServe } from "../../../adapters/standalone/start.ts";
import {
  apiKeys,
  createHandler,
  type HandlerOptions,
  memoryStorage,
} from "../../../mod.ts";
import type { OpenService } from "../../contract/ask.ts";
import {
  httpContract,
  type OpenServer,
  rawHttpContract,
} from "../../contract/register.ts";
import { onEveryRuntime } from "../../support/servers/start.ts";

const KEY = "secret";

const serve = await loadServe();

async function openHere(options: Partial<HandlerOptions>): Promise<OpenServer> {
  const handle = createHandler({
    storage: memoryStorage(),
    keys: apiKeys([KEY]),
    ...options,
  });
  const { port, close } = await serve(handle, { port: 0 });
  return { port, key: KEY, close };
}

/** The same server for a client that speaks through `fetch`. */
async function throughFetch(
  opening: Promise<OpenServer>,
): Promise<OpenService> {
  const { port, key, close } = await opening;
  return { fetch, base: `http://127.0.0.1:${port}/v1`, key, close };
}

httpContract("this runtime's adapter", () => throughFetch(openHere({})));
rawHttpContract("this runtime's adapter", openHere);

onEveryRuntime("the HTTP contract", (name, open) => {
  httpContract(name, () => throughFetch(open({})));
  rawHttpContract(name, open);
});
