/** A TCP address for a test: what is behind it can change, be far away, or be cut off. */

import { connect, createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { atEnd } from "./at_end.ts";
import { portOf } from "./process.ts";

/** An address on 127.0.0.1. */
export interface Line {
  readonly port: number;
  /** From now on it leads to this port; the connections that there are end. */
  leadTo(port: number): void;
  /**
   * From now on what a server sends takes so many ms; the other direction takes no time. What is on
   * its way when an end closes is lost, as on a cable that is cut.
   */
  delay(ms: number): void;
  /** From now on what a server sends waits for `release`; resolves when the first does. */
  hold(): { readonly first: Promise<void>; release(): void };
  /** From now on new connections end at once; those that there are go on. */
  refuse(): void;
  /**
   * From now on nothing comes through, in either direction, and new connections lead nowhere, as
   * with a firewall that drops packets without notice.
   */
  cutOff(): void;
  /** From now on new connections come through. Those that were cut off stay cut off. */
  heal(): void;
  /** Ends it, and its connections. */
  close(): Promise<void>;
}

/** Opens an address that leads to a port, by default of 127.0.0.1; it is closed after the test. */
export async function openLine(
  t: TestContext,
  port: number,
  host = "127.0.0.1",
): Promise<Line> {
  let delay = 0;
  let held:
    | { readonly first: () => void; readonly end: Promise<void> }
    | undefined;
  let isCut = false;
  let isRefusing = false;
  /** Connections of an earlier generation are cut off. */
  let generation = 0;
  const sockets = new Set<Socket>();

  // An end that comes while it is cut off is not answered either.
  const listener = createServer({ allowHalfOpen: true }, (client) => {
    if (isRefusing) return void client.on("error", () => {}).destroy();
    const born = generation;
    const isOpen = () => !isCut && born === generation;
    const server = isCut
      ? undefined
      : connect({ port, host, allowHalfOpen: true });
    keep(client, server);
    if (server !== undefined) keep(server, client);

    function keep(socket: Socket, other: Socket | undefined): void {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("data", (data) => {
        if (!isOpen()) return;
        const send = () => other?.destroyed || other?.write(data);
        if (socket === client) send();
        else if (held !== undefined) {
          held.first();
          held.end.then(send);
        } else if (delay > 0) setTimeout(send, delay); // the way of the bytes
        else send();
      });
      // A fault of one end is the end of both.
      socket.on("error", () => {});
      socket.on("end", () => isOpen() && socket.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        if (isOpen()) other?.destroy();
      });
    }
  });

  function end(): void {
    sockets.forEach((socket) => socket.destroy());
  }

  async function close(): Promise<void> {
    const closed = new Promise((resolve) => listener.close(resolve));
    end();
    await closed;
  }

  atEnd(t, close);
  return {
    port: await portOf(listener),
    leadTo(other) {
      port = other;
      end();
    },
    delay: (ms) => void (delay = ms),
    hold() {
      const first = Promise.withResolvers<void>();
      const end = Promise.withResolvers<void>();
      held = { first: first.resolve, end: end.promise };
      return {
        first: first.promise,
        release() {
          held = undefined;
          end.resolve();
        },
      };
    },
    refuse: () => void (isRefusing = true),
    cutOff: () => void (isCut = true),
    heal() {
      isCut = false;
      generation++;
    },
    close,
  };
}
