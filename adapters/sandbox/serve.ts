/** Serves a sandbox on a port, with `node:http` on Deno, Bun and Node. */

import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { toHandler } from "../../core/http/fetch_handler.ts";
import type { Service } from "../../core/http/message.ts";
import { isHost, noTunnel } from "../../core/http/target.ts";
import { clientErrorListener, refuse } from "../http/node/client_error.ts";
import { toNodeListener } from "../http/node/listener.ts";
import { listenError, origin } from "../http/server.ts";
import { CONTROL, createControl } from "./control.ts";
import { settle } from "./journal.ts";
import type { Store } from "./store.ts";

/** Replaces a lost answer. The connection is closed, so it is not sent. */
const LOST = { status: 500, headers: {}, body: null };

/** Listens. Rejects if it cannot, for example because the port is in use. */
export async function serveStore(store: Store, { port, hostname, names }: {
  readonly port: number;
  readonly hostname: string;
  readonly names: readonly string[];
}) {
  /**
   * By connection, resolves once its latest request is over. Pipelined requests take turns, because
   * a fault that breaks the connection must not take earlier answers with it.
   */
  const turns = new WeakMap<Socket, Promise<void>>();

  function listener(req: IncomingMessage, res: ServerResponse): void {
    const { method, url: target, rawHeaders, socket } = req;
    const [address = ""] = String(target).split("?", 1);
    const path = address.replace(/^https?:\/\/[^/]*/i, "");
    const turn = turns.get(socket);
    const { promise: over, resolve } = Promise.withResolvers<void>();
    turns.set(socket, over);
    // Deno 2.9 and Node 22 do not close the responses that wait when their connection closes.
    socket.setMaxListeners(0); // each pipelined request adds one
    const end = () => {
      socket.off("close", end);
      resolve();
    };
    for (const emitter of [res, socket]) emitter.once("close", end);
    const answerBy = (service: Service) => {
      const inTurn: Service = async (...call) => {
        await turn;
        return socket.writable ? await service(...call) : LOST;
      };
      // Errors are expected: a body that is cut is a stream that fails.
      toNodeListener(toHandler(inTurn), { onError() {} })(req, res);
    };
    if (path === CONTROL || path.startsWith(`${CONTROL}/`)) {
      return answerBy(createControl(store, path, [hostname, ...names]));
    }
    const fields = rawHeaders.flatMap((name, i) =>
      i % 2 === 0 ? [[name, String(rawHeaders[i + 1])] as const] : []
    );
    const entry = store.journal.begin(String(method), String(target), fields);
    const gone = new AbortController();
    over.then(() => {
      gone.abort();
      // For requests that never reached the service.
      settle(entry, res.headersSent ? res.statusCode : null);
    });
    answerBy(async (request, _connection, readBody) => {
      const { signal } = gone;
      const answer = await store.answer(request, {
        entry,
        path,
        signal,
        socket,
        readBody,
      });
      if (answer === undefined) socket.destroy();
      return answer ?? LOST;
    });
  }

  // The listener refuses requests without Host itself, with an Error body.
  const server = createServer({ requireHostHeader: false }, listener);
  server.on("checkExpectation", listener);
  server.on("connect", (_req, socket: Socket) => refuse(socket, noTunnel));
  server.on("clientError", clientErrorListener());
  try {
    server.listen(port, hostname);
    await once(server, "listening");
  } catch (cause) {
    throw listenError(hostname, port, cause);
  }
  const { port: listensOn } = server.address() as AddressInfo; // it listens on TCP
  const root = origin(names[0] ?? hostname, listensOn);
  return {
    url: `${root}/v1`,
    control: root + CONTROL,
    async close(): Promise<void> {
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections(); // on Bun 1.4, only those that ever sent a byte
      await closed;
    },
  };
}

/** @throws {TypeError} if one of these is not the name of a host. */
export function checkHosts(names: readonly string[]): void {
  const wrong = names.find((name) => !isHost(name));
  if (wrong === undefined) return;
  throw new TypeError(
    `Wrong option names: it must be names of hosts, not ${
      JSON.stringify(wrong)
    }`,
  );
}
