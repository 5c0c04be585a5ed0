/**
 * The floor: the least that a server with the answers of ours must do on this runtime. It reads what
 * every such service must read, and answers with one constant text and our status and header fields.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { createServer, type IncomingMessage } from "node:http";
import process from "node:process";
import { HOST, PORT } from "./settings.ts";

interface Task {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A string: a runtime may send bytes more slowly (Deno 2.9 does). */
  readonly body: string;
  /** Whether requests have a body. */
  readonly reads: boolean;
}

interface BunRuntime {
  serve(options: {
    readonly port: number;
    readonly hostname: string;
    readonly fetch: (request: Request) => Response | Promise<Response>;
  }): unknown;
}

const { status, headers, body, reads }: Task = JSON.parse(
  process.env.ANSWER ?? "",
);
const decoder = new TextDecoder("utf-8", { fatal: true });

/** Refuses a request that lacks what every request has: so that it is really read. */
function look(...seen: readonly unknown[]): void {
  if (seen[0] === undefined) throw new TypeError("Empty request");
}

function answer(request: Request): Response {
  const { method, url, headers: fields } = request;
  look(method, url, fields.get("host"), fields.get("authorization"));
  return new Response(body, { status, headers });
}

async function readAndAnswer(request: Request): Promise<Response> {
  const { headers } = request;
  look(
    headers.get("content-type"),
    headers.get("content-encoding"),
    headers.get("content-length"),
  );
  look(decoder.decode(await request.arrayBuffer()));
  return answer(request);
}

function serveNode(): void {
  const fields = { ...headers, "content-length": Buffer.byteLength(body) };
  createServer((request: IncomingMessage, response) => {
    const { method, url, headers } = request;
    look(method, url, headers.host, headers.authorization);
    function answer(): void {
      response.writeHead(status, fields);
      response.end(body);
    }
    if (!reads) return answer();
    look(
      headers["content-type"],
      headers["content-encoding"],
      headers["content-length"],
    );
    const chunks: Uint8Array[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      look(decoder.decode(Buffer.concat(chunks)));
      answer();
    });
  }).listen(PORT, HOST);
}

const fetch = reads ? readAndAnswer : answer;
if ("Deno" in globalThis) {
  Deno.serve({ port: PORT, hostname: HOST, onListen: () => {} }, fetch);
} else if ("Bun" in globalThis) {
  const { Bun } = globalThis as unknown as { readonly Bun: BunRuntime };
  Bun.serve({ port: PORT, hostname: HOST, fetch });
} else serveNode();
