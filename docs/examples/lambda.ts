/**
 * The pet store as an AWS Lambda function with a function URL of auth type `NONE`: the pet store checks its
 * own keys, in the same header that AWS would use. An HTTP API with payload format 2.0 sends the same events.
 *
 * Lambda runs JavaScript, with the handler `index.handler`: bundle it with
 * `npx -y esbuild lambda.ts --bundle --platform=node --format=esm --outfile=index.mjs`. The memory of a
 * function does not persist: to keep pets, use PostgreSQL or your own storage.
 *
 * PostgreSQL's driver calls `require`, which the bundle then needs:
 * `--banner:js="import {createRequire} from 'node:module'; const require = createRequire(import.meta.url);"`
 *
 * @see {@link https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html#urls-payloads}
 * @module
 */

import { Buffer } from "node:buffer";
import { apiKeys, createHandler, memoryStorage } from "@petstore/service";

const keys = apiKeys(["secret"]);
const handle = createHandler({ storage: memoryStorage(), keys });

/** The part of an event that is read. */
export interface LambdaEvent {
  readonly rawPath: string;
  /** The query as sent: `queryStringParameters` would join repeated names with a comma. */
  readonly rawQueryString: string;
  /** Lower-case names; repeated fields are joined with a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly requestContext: {
    readonly domainName: string;
    readonly http: { readonly method: string };
  };
  /** Absent if there is none. */
  readonly body?: string;
  readonly isBase64Encoded: boolean;
}

/** What Lambda sends to the client. */
export interface LambdaResult {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly isBase64Encoded: boolean;
}

/** Answers an event. */
export async function handler(event: LambdaEvent): Promise<LambdaResult> {
  const response = await handle(toRequest(event));
  const body = Buffer.from(await response.arrayBuffer());
  return {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    body: body.toString("base64"),
    isBase64Encoded: true,
  };
}

function toRequest(event: LambdaEvent): Request {
  const { domainName, http: { method } } = event.requestContext;
  const query = event.rawQueryString && `?${event.rawQueryString}`;
  // Bytes, not text: a body that is not UTF-8 must arrive as it was sent.
  const encoding = event.isBase64Encoded ? "base64" : "utf8";
  const bytes = Buffer.from(event.body ?? "", encoding);
  const hasBody = bytes.length > 0 && method !== "GET" && method !== "HEAD";
  return new Request(`https://${domainName}${event.rawPath}${query}`, {
    method,
    headers: event.headers,
    body: hasBody ? bytes : null,
  });
}
