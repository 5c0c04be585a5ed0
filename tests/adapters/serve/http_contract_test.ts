/** The HTTP contract over real sockets, on every runtime there is. */
import { test } from "node:test";
import { httpContract, rawHttpContract } from "../../contract/register.ts";
import { onEveryRuntime } from "../../support/programs.ts";

onEveryRuntime("the HTTP contract", (name, open) => {
  const it = (title: string, check: () => Promise<void>) =>
    test(`${name}: ${title}`, check);
  httpContract(it, async () => {
    const { port, ...server } = await open({});
    return { ...server, fetch, base: `http://127.0.0.1:${port}/v1` };
  });
  rawHttpContract(it, open);
});
