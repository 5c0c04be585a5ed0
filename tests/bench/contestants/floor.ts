// The floor: the least that a server with the answers of ours must do on this runtime. It reads what
// every such service must read, and answers with one constant text and our status and header fields.
import { Buffer } from "node:buffer";
import { createServer } from "node:http";
import process from "node:process";
import { HOST, listen, PORT } from "./settings.ts";

/** What is answered, and whether requests have a body that is read. */
interface Task {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string; // bytes may be sent more slowly: Deno 2.9 does
  readonly reads: boolean;
}

const task: Task = JSON.parse(process.env.ANSWER ?? "");
const { status, headers, body, reads } = task;
const decoder = new TextDecoder("utf-8", { fatal: true });

/** Uses what was read, so that it is really read. */
function look(...seen: readonly unknown[]): void {
  if (seen.length === 0) throw new TypeError("Nothing was read");
}

function answer({ method, url, headers: fields }: Request): Response {
  look(method, url, fields.get("host"), fields.get("authorization"));
  return new Response(body, { status, headers });
}

async function readAndAnswer(request: Request): Promise<Response> {
  const { headers: fields } = request;
  look(fields.get("content-type"), fields.get("content-encoding"));
  look(fields.get("content-length"));
  look(decoder.decode(await request.arrayBuffer()));
  return answer(request);
}

function listenNode(): void {
  const fields = { ...headers, "content-length": Buffer.byteLength(body) };
  createServer((request, response) => {
    const { method, url, headers } = request;
    look(method, url, headers.host, headers.authorization);
    const answer = () => response.writeHead(status, fields).end(body);
    if (!reads) return void answer();
    look(headers["content-type"], headers["content-encoding"]);
    look(headers["content-length"]);
    const chunks: Uint8Array[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      look(decoder.decode(Buffer.concat(chunks)));
      answer();
    });
  }).listen(PORT, HOST);
}

if (!listen(reads ? readAndAnswer : answer)) listenNode();
