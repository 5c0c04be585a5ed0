/** HTTP with a connection for each request: the `fetch` of Bun has 256 at the most. */

import { connect } from "node:net";

/** Sends a request on a connection of its own, to `http://127.0.0.1:PORT`; as `fetch` does it. */
export async function fetchOnItsOwn(request: Request): Promise<Response> {
  const { hostname, port, pathname, search } = new URL(request.url);
  const body = new Uint8Array(await request.arrayBuffer());
  const lines = [
    `${request.method} ${pathname}${search} HTTP/1.1`,
    `Host: ${hostname}:${port}`,
    "Connection: close",
    `Content-Length: ${body.length}`,
    ...[...request.headers].map(([name, value]) => `${name}: ${value}`),
  ];

  const text = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(`${lines.join("\r\n")}\r\n\r\n`);
      socket.write(body);
    });
    let received = "";
    socket.setEncoding("utf8");
    socket.on("data", (text) => received += text);
    socket.on("error", reject);
    socket.on("close", () => resolve(received));
  });

  const [head = "", content = ""] = text.split(/\r\n\r\n(.*)/s);
  const [statusLine = "", ...fields] = head.split("\r\n");
  return new Response(content, {
    status: Number(statusLine.split(" ")[1]),
    headers: fields.map((field) => field.split(/: *(.*)/, 2)) as [
      string,
      string,
    ][],
  });
}
