/** A sandbox on a port: `node:http` on Deno, Bun and Node alike. */

import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { toFetch } from "../../core/handler.ts";
import type { Service } from "../../core/http/message.ts";
import { noTunnel } from "../../core/http/target.ts";
import { clientErrorListener, refuse } from "../http/node/client_error.ts";
import { toNodeListener } from "../http/node/listener.ts";
import { listenError, origin } from "../http/server.ts";
import { CONTROL, createControl } from "./control.ts";
import { settle } from "./journal.ts";
import type { Store } from "./store.ts";

/** What is sent of a lost answer: nothing, because the connection is closed before. */
const LOST = { status: 500, headers: {}, body: null };

/** Listens; rejected if it cannot, for instance because the port is taken. */
export async function serveStore(
  store: Store,
  { port, hostname, names }: {
    readonly port: number;
    readonly hostname: string;
    readonly names: readonly string[];
  },
) {
  const control = createControl(store, [hostname, ...names]);

  function listener(req: IncomingMessage, res: ServerResponse): void {
    const target = String(req.url);
    const [path = ""] = target.replace(/^https?:\/\/[^/]*/i, "").split("?");
    if (path === CONTROL || path.startsWith(`${CONTROL}/`)) {
      return toNodeListener(toFetch(control))(req, res);
    }
    const { rawHeaders, socket } = req;
    const fields = rawHeaders.flatMap((name, i) =>
      i % 2 === 0 ? [[name, String(rawHeaders[i + 1])] as const] : []
    );
    const entry = store.journal.begin(String(req.method), target, fields);
    const gone = new AbortController();
    res.once("close", () => {
      gone.abort();
      // Also of a request that the listener itself refused.
      settle(entry, res.headersSent ? res.statusCode : null);
    });
    const exchange = {
      entry,
      signal: gone.signal,
      flush: async () => await flush(socket),
    };
    const service: Service = async (request) => {
      const answer = await store.answer(request, exchange);
      if (answer === undefined) socket.destroy();
      return answer ?? LOST;
    };
    // A body that is cut is a stream that fails.
    toNodeListener(toFetch(service), { onError: () => {} })(req, res);
  }

  const server = createServer({ requireHostHeader: false }, listener);
  server.on("checkExpectation", listener);
  server.on("connect", (_req, socket: Socket) => refuse(socket, noTunnel));
  server.on("clientError", clientErrorListener());
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  try {
    server.listen(port, hostname);
    await once(server, "listening");
  } catch (cause) {
    throw listenError(hostname, port, cause);
  }
  const { port: listensOn } = server.address() as AddressInfo; // it listens on TCP
  const root = origin(names[0] ?? hostname, listensOn);
  let closed: Promise<void> | undefined;
  return {
    url: `${root}/v1`,
    control: root + CONTROL,
    /** Closes the port and every connection. */
    close: (): Promise<void> =>
      closed ??= new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Waits until what was written is on its way. */
async function flush(socket: Socket): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve));
  if (socket.writableLength > 0 && !socket.destroyed) {
    await Promise.race([once(socket, "drain"), once(socket, "close")]);
  }
}
