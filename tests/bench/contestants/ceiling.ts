/**
 * The ceiling: what the runtime itself answers in a second, with one text that is always the same. No
 * service on it can be faster. With `READ_HEAD`, it looks at what every service must look at.
 *
 * `ANSWER` in the environment is the answer: what ours says in this case. The text is a string: a
 * runtime may send bytes more slowly (Deno 2.9 does).
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { createServer, type IncomingMessage } from "node:http";
import process from "node:process";
import { HOST, PORT } from "./settings.ts";

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface BunRuntime {
  serve(options: {
    readonly port: number;
    readonly hostname: string;
    readonly fetch: Fetch;
  }): unknown;
}

type Fetch = (request: Request) => Response | Promise<Response>;

const { status, headers, body }: Answer = JSON.parse(process.env.ANSWER ?? "");

const readsHead = process.env.READ_HEAD === "yes";
const readsBody = process.env.READ_BODY === "yes";

const respond = (): Response => new Response(body, { status, headers });

/** The least that a service does: it looks where the request goes and who sent it, and waits for an animal. */
const respondToHead: Fetch = async ({ method, url, headers }) => {
  look(method, url, headers.get("host"), headers.get("authorization"));
  await undefined;
  return respond();
};

function look(...seen: readonly unknown[]): void {
  if (seen[0] === undefined) throw new TypeError("There is no request");
}

/** A body that is sent is read, by the shortest way. */
const fetch: Fetch = readsBody
  ? (request) =>
    request.text().then(() => readsHead ? respondToHead(request) : respond())
  : readsHead
  ? respondToHead
  : respond;

async function lookFirst(
  { method, url, headers: { host, authorization } }: IncomingMessage,
): Promise<void> {
  look(method, url, host, authorization);
  await undefined;
}

function serveNode(): void {
  const length = Buffer.byteLength(body);
  const fields = { ...headers, "content-length": length };
  createServer((request, response) => {
    const answer = (): void => {
      response.writeHead(status, fields);
      response.end(body);
    };
    const respond = readsHead ? () => lookFirst(request).then(answer) : answer;
    if (request.method !== "POST") return void respond();
    const chunks: Uint8Array[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", respond);
  }).listen(PORT, HOST);
}

if ("Deno" in globalThis) {
  Deno.serve({ port: PORT, hostname: HOST, onListen: () => {} }, fetch);
} else if ("Bun" in globalThis) {
  const { Bun } = globalThis as unknown as { readonly Bun: BunRuntime };
  Bun.serve({ port: PORT, hostname: HOST, fetch });
} else serveNode();
