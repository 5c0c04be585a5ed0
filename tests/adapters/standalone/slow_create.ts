/** A create whose body is still on its way: what a server has in flight when it is told to stop. */

import { connect } from "node:net";

const BODY = '{"name":"Slow","categoryId":1}';

/** A request that is half sent. */
export interface SlowCreate {
  /** Sends the rest, and returns the response once the server has closed the connection. */
  finish(): Promise<string>;
  /** Hangs up. */
  abandon(): void;
}

/** Sends the head and half the body of a create; resolves once the server is waiting for the rest. */
export async function openSlowCreate(
  origin: string,
  key: string | undefined,
): Promise<SlowCreate> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  let answer = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => answer += chunk);
  const closed = new Promise<void>((resolve) =>
    socket.once("close", () => resolve())
  );
  socket.on("error", () => {}); // a hang-up is what some tests are about
  // The server answers 100 when the handler asks for the body: then the request is in flight.
  const asked = new Promise<void>((resolve) =>
    socket.once("data", () => resolve())
  );
  socket.write(
    `POST /v1/pets HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${BODY.length}\r\n` +
      `Expect: 100-continue\r\nConnection: close\r\n\r\n`,
  );
  await asked;
  socket.write(BODY.slice(0, 10));
  return {
    async finish() {
      socket.write(BODY.slice(10));
      await closed;
      return answer.replace(/^HTTP\/1.1 100 .*\r\n\r\n/, "");
    },
    abandon: () => socket.destroy(),
  };
}
