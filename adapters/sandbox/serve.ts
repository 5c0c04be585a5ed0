/** Serves a sandbox on a port, with `node:http` on Deno, Bun and Node. */

import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import {
  checkIntegers,
  checkNames,
  type Fields,
  isHost,
  noAnswer,
  noTunnel,
  Refusal,
  type Service,
  shown,
  toHandler,
} from "../../core/kit.ts";
import { clientErrorListener, refuse } from "../http/node/client_error.ts";
import { toNodeListener } from "../http/node/listener.ts";
import { checkHostname, listenError, origin } from "../http/server.ts";
import { CONTROL, createControl } from "./control.ts";
import type { Worlds } from "./worlds.ts";

/** The targets of requests to the control address; a proxy's have an origin. */
const CONTROL_TARGET = /^(?:https?:\/\/[^/]*)?\/sandbox(?![^/?])/;

/** Where a sandbox listens. */
export interface SandboxServeOptions {
  /** TCP port, 0 to 65535; 0, the default, picks a free one. */
  readonly port?: number;
  /** Address to listen on. Default: `127.0.0.1`. */
  readonly hostname?: string;
  /**
   * Other names by which it is reached, such as in a container network. The first is used in `url`
   * and `control`.
   */
  readonly names?: readonly string[];
  /**
   * What `{other}` stands for in the header fields of a fault: the origin of another host. Default:
   * `http://localhost:PORT`, or `http://127.0.0.1:PORT` if `hostname` is `localhost`.
   */
  readonly other?: string;
}

/** A sandbox that listens. */
export interface SandboxServer {
  /** The base address of the service, such as `http://127.0.0.1:49152/v1`. */
  readonly url: string;
  /** The API key, or the first of several. */
  readonly key: string;
  /** The control address, such as `http://127.0.0.1:49152/sandbox`. */
  readonly control: string;
  /** Closes the port and every connection, whether idle or not. */
  close(): Promise<void>;
}

/** Listens. Rejects if it cannot, for example because the port is in use. */
export async function serveWorlds(
  worlds: Worlds,
  options: SandboxServeOptions,
): Promise<SandboxServer> {
  checkNames(options, ["port", "hostname", "names", "other"], "serve");
  const { port = 0, hostname = "127.0.0.1", names = [] } = options;
  checkIntegers({ port }, 0, 65_535);
  checkHostname(hostname);
  checkHosts(names);
  if (options.other !== undefined) checkOrigin(options.other);
  const otherName = hostname === "localhost" ? "127.0.0.1" : "localhost";
  const control = createControl(worlds, [hostname, ...names]);

  function listener(req: IncomingMessage, res: ServerResponse): void {
    const { socket, rawHeaders } = req;
    const [method, target] = [String(req.method), String(req.url)];
    const headers = joinFields(rawHeaders);
    const isControl = CONTROL_TARGET.test(target);
    const found = worlds.find(
      isControl ? null : headers.authorization ?? null,
    );
    // A request that begins no world is recorded in the first.
    const { answer, journal } = found instanceof Refusal ? worlds.first : found;
    const entry = isControl
      ? undefined
      : journal.begin({ method, target, headers, ...portOf(socket) });
    const gone = new AbortController();
    // Deno 2.9 and Node 22 do not close the responses that wait when their connection closes.
    socket.setMaxListeners(0); // each pipelined request adds one
    const end = () => {
      socket.off("close", end);
      gone.abort();
      if (entry) journal.end(entry, res.headersSent ? res.statusCode : null);
    };
    if (entry) res.once("finish", () => journal.end(entry, res.statusCode));
    for (const emitter of [res, socket]) emitter.once("close", end);
    // On Deno 2.9 an upload that breaks off closes `res` only after its 400.
    req.once("close", () => req.complete || end());
    const service: Service = async (request, connection, readBody) => {
      if (!socket.writable) {
        end(); // before Node counts the header of what is never sent
        return noAnswer;
      }
      if (!entry) return await control(request, connection, readBody);
      if (found instanceof Refusal) return found;
      const result = await answer(request, {
        entry,
        signal: gone.signal,
        connection: { socket, response: res },
        readBody,
        other: options.other ?? `http://${otherName}:${socket.localPort}`,
      });
      const isReset = result.isSent === false && entry.fault?.reset;
      if (isReset) socket.resetAndDestroy();
      return result;
    };
    // It begins pipelined requests one after the other, so a fault that breaks the connection takes
    // no earlier answer with it. Errors are expected: a body that is cut is a stream that fails.
    toNodeListener(toHandler(service), { onError() {} })(req, res);
  }

  // The service refuses requests without Host itself, with an Error body.
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
    key: worlds.key,
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

/**
 * Joins the values of each field by a comma. Not `headersDistinct`: that of Deno 2.9 fails if a
 * field is named `constructor`. Not `findField` for each name: 900 fields of one name would take
 * 0.5 s.
 */
function joinFields(raw: readonly string[]): Fields {
  const fields = new Map<string, string>();
  for (let i = 0; i < raw.length; i += 2) {
    const name = String(raw[i]).toLowerCase();
    const before = fields.get(name);
    const value = String(raw[i + 1]);
    fields.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(fields);
}

/** The client's port; Node has none for a connection that is closed. */
function portOf({ remotePort: port }: Socket): { readonly port?: number } {
  return port === undefined ? {} : { port };
}

/** @throws {TypeError} if this is not the origin of an address. */
function checkOrigin(other: unknown): void {
  if (URL.parse(String(other))?.origin === other) return;
  throw new TypeError(
    `Wrong option other: it must be an origin such as http://localhost:8080, not ${
      shown(other)
    }`,
  );
}

/** @throws {TypeError} if these are not the names of hosts, or one has a port. */
export function checkHosts(names: unknown): void {
  const isName = (name: unknown) =>
    typeof name === "string" && isHost(name) && !/:\d*$/.test(name);
  const wrong = Array.isArray(names)
    ? names.filter((name) => !isName(name))
    : [names];
  if (wrong.length === 0) return;
  throw new TypeError(
    `Wrong option names: it must be a list of hosts, without ports, not ${
      shown(wrong[0])
    }`,
  );
}
