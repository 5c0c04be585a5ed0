/** The control address of a sandbox, through which a test program controls it. */

import { notJson, readText, wrongMediaType } from "../../core/http/body.ts";
import {
  type Answer,
  jsonAnswer,
  type ReadBody,
  type Service,
  type ServiceRequest,
} from "../../core/http/message.ts";
import { Refusal } from "../../core/http/refusal.ts";
import { createRouter } from "../../core/http/router.ts";
import { parseTarget } from "../../core/http/target.ts";
import { parseInt64, parseWithInt64 } from "../../core/json.ts";
import { petsToJson } from "../../core/pets/pet.ts";
import { LOOPBACK } from "../http/server.ts";
import type { Store } from "./store.ts";

/** Where the control address is on its server. */
export const CONTROL = "/sandbox";
/** Maximum size of a body, and of a file of pets, in bytes. */
export const MAX_BYTES: number = 16 * 1024 * 1024;

type Act = (request: ServiceRequest, readBody: ReadBody) => Promise<Answer>;

/** Makes the service. `hosts` lists the names by which it can be reached, besides loopback. */
export function createControl(store: Store, hosts: readonly string[]): Service {
  const { journal } = store;

  function seed(pets: unknown, query: URLSearchParams): void {
    const nextId = query.get("nextId") ?? undefined;
    store.seed(pets, nextId && (parseInt64(nextId) ?? nextId));
  }

  const routes = ([
    ["GET", "", call(store.state)],
    ["POST", "/reset", call(store.reset)],
    ["GET", "/pets", async () => jsonAnswer(200, petsToJson(store.pets()))],
    ["PUT", "/pets", callWithBody(seed)],
    ["GET", "/faults", call(() => store.faults)],
    ["POST", "/faults", callWithBody(store.add)],
    ["DELETE", "/faults", call(store.removeFaults)],
    ["GET", "/requests", async () => jsonAnswer(200, journal.toJson())],
    ["DELETE", "/requests", call(() => journal.clear())],
  ] as const).map(([method, path, act]) => ({
    method,
    path: CONTROL + path,
    act,
  }));
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
    if (message !== undefined) {
      const error = { code: "forbidden", message, status: 403 };
      return jsonAnswer(403, JSON.stringify(error));
    }
    const found = find(request.method, target.path) ?? notFound;
    return "status" in found ? found : await found.route.act(request, readBody);
  };
}

/** Answers with the result as JSON, or with 204 if there is none. */
function call(action: () => unknown): Act {
  return async () => {
    const result = action();
    return result === undefined
      ? { status: 204, headers: {}, body: null }
      : jsonAnswer(200, JSON.stringify(result));
  };
}

/** For `curl -d`, which sends the type of a form, and `fetch`, which sends `text/plain`. */
const notSentAsJson = new Refusal(
  "unsupported_media_type",
  `${wrongMediaType.message}: curl --json sends it; with curl -d or fetch, set it`,
  wrongMediaType.headers,
);

/** Passes the parsed body to an action, which throws if that is wrong. */
function callWithBody(
  action: (body: unknown, query: URLSearchParams) => void,
): Act {
  return async (request, readBody) => {
    const limits = { maxBodyBytes: MAX_BYTES, bodyTimeout: 10_000 };
    const text = await readText(request, limits, readBody);
    if (text === wrongMediaType) return notSentAsJson;
    if (typeof text !== "string") return text;
    const body = parseWithInt64(text, "categoryId", "id");
    if (body === undefined) return notJson;
    try {
      const { search } = new URL(request.url);
      const query = new URLSearchParams(search);
      return await call(() => action(body, query))(request, readBody);
    } catch (cause) {
      return new Refusal("bad_request", (cause as Error).message);
    }
  };
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
