/** The HTTP contract, checked on `handle` itself: no server, no socket. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { operationsOf } from "../../core/operations.ts";
import { handleService } from "../support/handle_service.ts";
import { httpContract } from "../contract/register.ts";

const operations = operationsOf({ hasGetPet: true });

httpContract(
  (title, check) => test(`handle: ${title}`, check),
  () => Promise.resolve(handleService()),
);

test("the clauses ask each operation with and without a key, and for HEAD and OPTIONS", async () => {
  const sent: string[] = [];
  const checks: (() => Promise<void>)[] = [];
  httpContract((_title, check) => checks.push(check), () => {
    const service = handleService();
    const fetch = (request: Request) => {
      const { pathname } = new URL(request.url);
      const key = request.headers.has("authorization") ? "a" : "no";
      sent.push(`${request.method} ${pathname} with ${key} key`);
      return service.fetch(request);
    };
    return Promise.resolve({ ...service, fetch });
  });
  for (const check of checks) await check();
  for (const { method, path, isPublic } of operations) {
    if (isPublic) continue;
    const asked = [`${method} with a`, `${method} with no`, "OPTIONS with no"]
      .concat(method === "GET" ? "HEAD with a" : []);
    for (const one of asked) {
      const line = one.replace(" with", ` /v1${path} with`) + " key";
      const pattern = line.replace(/\{.*\}/, "[^/ ]+");
      assert.ok(
        sent.some((each) => RegExp(`^${pattern}$`).test(each)),
        `add a clause to tests/contract/http_contract.ts that sends ${line}`,
      );
    }
  }
});
