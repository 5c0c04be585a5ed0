/**
 * A TCP address in front of PostgreSQL that can be cut off, as by a firewall that drops packets:
 * nobody is told.
 *
 * @module
 */

import { connect, createServer, type Socket } from "node:net";

/** An address on 127.0.0.1 that leads to another. */
export interface Partition {
  readonly port: number;
  /** From now on nothing comes through, in either direction; new connections lead nowhere. */
  cutOff(): void;
  /** From now on new connections come through. Those that were cut off stay cut off. */
  heal(): void;
  /** Ends it, and its connections. */
  close(): Promise<void>;
}

/** Opens an address that leads to another one. */
export async function openPartition(
  target: { readonly port: number; readonly host: string },
): Promise<Partition> {
  const sockets = new Set<Socket>();
  let isCut = false;
  /** Connections of an earlier generation are cut off. */
  let generation = 0;

  function pass(from: Socket, to: Socket): void {
    const born = generation;
    const isOpen = () => !isCut && born === generation;
    sockets.add(from);
    from.setNoDelay(true);
    from.on("error", () => {});
    from.on("data", (data) => {
      if (isOpen()) to.write(data);
    });
    from.on("end", () => {
      if (isOpen()) to.end();
    });
    from.on("close", () => {
      sockets.delete(from);
      if (isOpen()) to.destroy();
    });
  }

  // An end that comes while it is cut off is not answered either.
  const listener = createServer({ allowHalfOpen: true }, (client) => {
    if (isCut) {
      sockets.add(client);
      client.on("error", () => {}).on("close", () => sockets.delete(client));
      client.resume();
      return;
    }
    const server = connect({ ...target, allowHalfOpen: true });
    pass(client, server);
    pass(server, client);
  });
  await new Promise<void>((resolve) =>
    listener.listen(0, "127.0.0.1", resolve)
  );
  const address = listener.address();
  if (typeof address !== "object" || address === null) {
    throw new TypeError("It listens on TCP");
  }

  return {
    port: address.port,
    cutOff() {
      isCut = true;
    },
    heal() {
      isCut = false;
      generation++;
    },
    async close() {
      const closed = new Promise((resolve) => listener.close(resolve));
      sockets.forEach((socket) => socket.destroy());
      await closed;
    },
  };
}
