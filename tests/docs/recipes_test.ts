/** The examples that are called with a request or an event: they need no package and no server. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import test from "node:test";
import type { LambdaEvent } from "../../docs/examples/lambda.ts";
import { handleService } from "../contract/handle_service.ts";
import { httpContract } from "../contract/http_contract.ts";

let opened = 0;

/** An example as if nobody had imported it before. */
function afresh<T>(path: string): Promise<T> {
  return import(`../../docs/examples/${path}?${opened++}`);
}

type Route = (request: Request) => Promise<Response>;

httpContract("the route handlers for Next.js", async () => {
  const routes = await afresh<Record<string, Route>>("frameworks/next.ts");
  const none = () => Promise.reject(new Error("no such route"));
  const fetch: Route = (request) => (routes[request.method] ?? none)(request);
  return { ...handleService(), fetch };
});

type Lambda = typeof import("../../docs/examples/lambda.ts");

test("the function for AWS Lambda answers events with bodies as text and in base64", async () => {
  const path = "../../docs/examples/lambda_events.json";
  const text = readFileSync(new URL(path, import.meta.url), "utf8");
  const exchanges: { event: LambdaEvent; result: unknown }[] = JSON.parse(text);
  assert.notEqual(exchanges.length, 0);
  const { handler } = await afresh<Lambda>("lambda.ts");
  for (const { event, result } of exchanges) {
    const { isBase64Encoded, ...answer } = await handler(event);
    assert.equal(isBase64Encoded, true);
    const body = Buffer.from(answer.body, "base64").toString();
    assert.deepEqual({ ...answer, body }, result);
  }
});
