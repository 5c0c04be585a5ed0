/**
 * The examples that need no package and no server: they are tests, or are called with a request or
 * an event.
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import type { LambdaEvent } from "../../docs/examples/lambda.ts";
import { handleService } from "../support/handle_service.ts";
import { httpContract } from "../contract/register.ts";
import { placeExample } from "../support/examples.ts";
import { readText } from "../support/repository.ts";
import { temporaryDirectory } from "../support/temporary_directory.ts";

const folder = temporaryDirectory();
await import(placeExample("application_test.ts", folder));
await import(placeExample("storage_contract.ts", folder));

type Routes = Record<string, (request: Request) => Promise<Response>>;
let opened = 0;

httpContract(
  (title, check) => test(`the route handlers for Next.js: ${title}`, check),
  async () => {
    // Imported anew for each test.
    const path = placeExample("frameworks/next.ts", folder);
    const routes: Routes = await import(`${path}?${opened++}`);
    const fetch = async (request: Request): Promise<Response> =>
      await routes[request.method]?.(request) ?? Response.error();
    return { ...handleService(), fetch };
  },
);

test("the function for AWS Lambda answers events with bodies as text and in base64", async () => {
  const json = readText("docs/examples/lambda_events.json");
  const exchanges: { event: LambdaEvent; result: unknown }[] = JSON.parse(json);
  assert.notEqual(exchanges.length, 0);
  const { handler } = await import(placeExample("lambda.ts", folder));
  for (const { event, result } of exchanges) {
    const { body, isBase64Encoded, ...rest } = await handler(event);
    assert.equal(isBase64Encoded, true);
    const text = Buffer.from(body, "base64").toString();
    assert.deepEqual({ ...rest, body: text }, result);
  }
});
