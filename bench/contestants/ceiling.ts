/**
 * The ceiling: what the runtime itself answers in a second, with one text that is always the same. No
 * service on it can be faster.
 *
 * `ANSWER` in the environment is the answer: what ours says in this case. The text is a string: a
 * runtime may send bytes more slowly (Deno 2.9 does).
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { createServer } from "node:http";
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

const respond = (): Response => new Response(body, { status, headers });

/** A body that is sent is read, by the shortest way. */
const fetch: Fetch = process.env.READ_BODY === "yes"
  ? (request) => request.text().then(respond)
  : respond;

function serveNode(): void {
  const length = Buffer.byteLength(body);
  const fields = { ...headers, "content-length": length };
  createServer((request, response) => {
    const respond = (): void => {
      response.writeHead(status, fields);
      response.end(body);
    };
    if (request.method !== "POST") return respond();
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
