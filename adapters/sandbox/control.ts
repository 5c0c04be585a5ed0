/** The control address of a sandbox, through which a test program controls it. */

import {
  type Answer,
  createRouter,
  type Endpoint,
  jsonAnswer,
  notJson,
  parseInt64,
  parseTarget,
  parseWithInt64,
  petsToJson,
  type ReadBody,
  readText,
  Refusal,
  type Service,
  type ServiceRequest,
  wrongMediaType,
} from "../../core/kit.ts";
import { LOOPBACK } from "../http/server.ts";
import type { Store } from "./store.ts";
import type { Worlds } from "./worlds.ts";

/** Where the control address is on its server. */
export const CONTROL = "/sandbox";
/** Maximum size of a body, and of a file of pets, in bytes. */
export const MAX_BYTES: number = 16 * 1024 * 1024;

/** A request to the control address. */
interface Call {
  readonly authorization: string | null;
  readonly query: URLSearchParams;
  /** The JSON of the body, if the route has one. */
  readonly body: unknown;
}

/** Returns JSON, an answer, or nothing for a 204. Throws if the body or the query is wrong. */
type Act = (call: Call) => string | Answer | void;

interface ControlRoute extends Pick<Endpoint, "method" | "path"> {
  readonly act: Act;
  readonly hasBody?: true;
}

/** Makes the service. `hosts` lists the names by which it can be reached, besides loopback. */
export function createControl(
  worlds: Worlds,
  hosts: readonly string[],
): Service {
  /** Acts on the store of the key. */
  function on(act: (store: Store, call: Call) => ReturnType<Act>): Act {
    return (call) => {
      const store = worlds.findControlled(call.authorization);
      return store instanceof Refusal ? store : act(store, call);
    };
  }

  function stateToJson(store: Store): string {
    const { count } = worlds;
    const counted = store === worlds.first ? { worlds: count } : {};
    return JSON.stringify({ ...store.state(), ...counted });
  }

  function seed(store: Store, { body, query }: Call): void {
    const nextId = query.get("nextId") ?? undefined;
    store.seed(body, nextId && (parseInt64(nextId) ?? nextId));
  }

  function setKeys(store: Store, { body }: Call): Answer | undefined {
    const taken = worlds.setKeys(store, body);
    const message = `Cannot add the key ${taken}: it has a world of its own`;
    return taken === undefined ? taken : refusal(409, "conflict", message);
  }

  const routes: readonly ControlRoute[] = [
    { method: "GET", path: CONTROL, act: on(stateToJson) },
    {
      method: "DELETE",
      path: CONTROL,
      act: ({ authorization }) => worlds.end(authorization),
    },
    {
      method: "POST",
      path: `${CONTROL}/reset`,
      act: on(({ reset }) => reset()),
    },
    { method: "PUT", path: `${CONTROL}/keys`, act: on(setKeys), hasBody: true },
    {
      method: "GET",
      path: `${CONTROL}/pets`,
      act: on(({ pets }) => petsToJson(pets())),
    },
    { method: "PUT", path: `${CONTROL}/pets`, act: on(seed), hasBody: true },
    {
      method: "GET",
      path: `${CONTROL}/faults`,
      act: on(({ faults }) => JSON.stringify(faults.list())),
    },
    {
      method: "POST",
      path: `${CONTROL}/faults`,
      act: on(({ faults }, { body }) => faults.add(body)),
      hasBody: true,
    },
    {
      method: "DELETE",
      path: `${CONTROL}/faults`,
      act: on(({ faults }) => faults.clear()),
    },
    {
      method: "GET",
      path: `${CONTROL}/requests`,
      act: on(({ journal }) => journal.toJson()),
    },
    {
      method: "DELETE",
      path: `${CONTROL}/requests`,
      act: on(({ journal }) => journal.clear()),
    },
  ];
  const find = createRouter(routes);
  const paths = [...new Set(routes.map(({ path }) => path))].join(", ");
  const notFound = new Refusal(
    "not_found",
    `Cannot find this path: the paths are ${paths}`,
  );

  return async (request, _connection, readBody) => {
    const target = parseTarget(request);
    if (target instanceof Refusal) return target;
    const message = whyForeign(request, hosts);
    if (message !== undefined) return refusal(403, "forbidden", message);
    const found = find(request.method, target.path) ?? notFound;
    if ("status" in found) return found;
    const { act, hasBody } = found.endpoint;
    const read = hasBody
      ? await readJson(request, readBody)
      : { json: undefined };
    if (!("json" in read)) return read;
    const authorization = request.headers.get("authorization");
    const query = new URLSearchParams(target.query);
    try {
      const result = act({ authorization, query, body: read.json });
      if (typeof result === "object") return result;
      return result === undefined
        ? { status: 204, headers: {}, body: null }
        : jsonAnswer(200, result);
    } catch (cause) {
      return new Refusal("bad_request", (cause as Error).message);
    }
  };
}

/** For `curl -d`, which sends the type of a form, and `fetch`, which sends `text/plain`. */
const notSentAsJson = new Refusal(
  "unsupported_media_type",
  `${wrongMediaType.message}: curl --json sends it; with curl -d or fetch, set it`,
  wrongMediaType.headers,
);

/** Reads and parses the body. */
async function readJson(
  request: ServiceRequest,
  readBody: ReadBody,
): Promise<{ readonly json: unknown } | Answer> {
  const limits = { maxBodyBytes: MAX_BYTES, bodyTimeout: 10_000 };
  const text = await readText(request, limits, readBody);
  if (text === wrongMediaType) return notSentAsJson;
  if (typeof text !== "string") return text;
  const json = parseWithInt64(text, "categoryId", "id");
  return json === undefined ? notJson : { json };
}

/** An answer whose code is none of the service's. */
function refusal(status: number, code: string, message: string): Answer {
  return jsonAnswer(status, JSON.stringify({ code, message, status }));
}
/**
 * Returns why a request is refused if a web page of another origin may have sent it, even by DNS
 * rebinding.
 */
function whyForeign(
  { headers }: ServiceRequest,
  hosts: readonly string[],
): string | undefined {
  const host = headers.get("host") ?? "";
  const name = host.toLowerCase().replace(/:\d*$/, "");
  const isKnown = hosts.some((known) =>
    [known.toLowerCase(), `[${known}]`].includes(name)
  );
  // Browsers always send a Host; HTTP/1.0 may lack it.
  if (name !== "" && !isKnown && !LOOPBACK.test(name)) {
    return `Cannot serve this host: start the sandbox with --name ${name}`;
  }
  const isForeign =
    (headers.get("origin") ?? `http://${host}`) !== `http://${host}` ||
    headers.get("sec-fetch-site") === "cross-site";
  return isForeign ? "Cannot serve a web page of another origin" : undefined;
}
