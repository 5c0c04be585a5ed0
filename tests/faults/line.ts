/** A TCP address of a test's own, with a server behind it that can change. @module */

import { connect, createServer, type Socket } from "node:net";

/** An address on 127.0.0.1. */
export interface Line {
  readonly port: number;
  /** From now on it leads to this port of 127.0.0.1; the connections that there are end. */
  leadTo(port: number): void;
  /**
   * From now on what a server sends takes so many ms; the other direction takes no time. What is on
   * its way when an end closes is lost, as on a cable that is cut.
   */
  delay(ms: number): void;
  /** Ends it, and its connections. */
  close(): Promise<void>;
}

/** Opens an address that leads to a port of 127.0.0.1. */
export async function openLine(target: number): Promise<Line> {
  let delay = 0;
  const sockets = new Set<Socket>();

  function keep(socket: Socket, other: () => Socket): void {
    sockets.add(socket);
    socket.setNoDelay(true);
    // A fault of one end is the end of both.
    socket.on("error", () => {});
    socket.on("end", () => socket.destroy());
    socket.on("close", () => {
      sockets.delete(socket);
      other().destroy();
    });
  }

  const listener = createServer((client) => {
    const server = connect(target, "127.0.0.1");
    keep(client, () => server);
    keep(server, () => client);
    client.on("data", (data) => server.write(data));
    server.on("data", (data) => {
      if (delay === 0) client.write(data);
      else setTimeout(() => client.destroyed || client.write(data), delay);
    });
  });
  await new Promise<void>((resolve) =>
    listener.listen(0, "127.0.0.1", resolve)
  );
  const address = listener.address();
  if (typeof address !== "object" || address === null) {
    throw new TypeError("It listens on TCP");
  }

  function cut(): void {
    sockets.forEach((socket) => socket.destroy());
  }

  return {
    port: address.port,
    leadTo(port) {
      target = port;
      cut();
    },
    delay: (ms) => void (delay = ms),
    async close() {
      const closed = new Promise((resolve) => listener.close(resolve));
      cut();
      await closed;
    },
  };
}
