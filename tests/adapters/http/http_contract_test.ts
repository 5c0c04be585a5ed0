/** The HTTP contract over real sockets, on every available runtime. */
import { test } from "node:test";
import { RAW_HTTP_CLAUSES } from "../../contract/raw_http_contract.ts";
import { httpContract, registerClauses } from "../../contract/register.ts";
import { onEveryRuntime } from "../../support/process.ts";

onEveryRuntime("the HTTP contract", (name, open) => {
  const testNamed = (title: string, check: () => Promise<void>) =>
    test(`${name}: ${title}`, check);
  httpContract(testNamed, open);
  registerClauses(testNamed, RAW_HTTP_CLAUSES, open);
});
