/** The control address of a sandbox, through which a test program controls it. */

import { notJson, readText } from "../../core/http/body.ts";
import {
  type Answer,
  type Fields,
  jsonAnswer,
  type Service,
  type ServiceRequest,
} from "../../core/http/message.ts";
import { parseWithInt64 } from "../../core/json.ts";
import type { Store } from "./store.ts";

/** Where the control address is on its server. */
export const CONTROL = "/sandbox";
/** Maximum size of a body, and of a file of pets, in bytes. */
export const MAX_BYTES: number = 16 * 1024 * 1024;

const LOOPBACK = /^(?:(?:.*\.)?localhost|127\.[\d.]+|\[::1\])$/;

/**
 * Makes the service of one path. `hosts` lists the names by which it can be reached, besides
 * loopback.
 */
export function createControl(
  store: Store,
  path: string,
  hosts: readonly string[],
): Service {
  const { journal } = store;
  /**
   * What each method of each path does, with the body if it has a parameter. Its result, if any, is
   * sent as JSON.
   */
  const actions: Readonly<
    Record<string, Readonly<Record<string, (body: unknown) => unknown>>>
  > = {
    [CONTROL]: {
      GET: () => ({
        pets: store.pets,
        faults: store.faults,
        requests: journal.list().length,
      }),
    },
    [`${CONTROL}/reset`]: { POST: () => store.reset() },
    [`${CONTROL}/pets`]: { PUT: (body) => store.seed(body) },
    [`${CONTROL}/faults`]: {
      GET: () => store.faults,
      POST: (body) => store.add(body),
      DELETE: () => store.removeFaults(),
    },
    [`${CONTROL}/requests`]: {
      GET: () => journal.list(),
      DELETE: () => journal.clear(),
    },
  };

  return async (request, _connection, readBody) => {
    const { method } = request;
    const reason = whyForeign(request, hosts);
    if (reason !== undefined) return refuse(403, "forbidden", reason);
    const methods = Object.hasOwn(actions, path) ? actions[path] : undefined;
    if (methods === undefined) {
      return refuse(
        404,
        "not_found",
        `Cannot find this path: the paths are ${
          Object.keys(actions).join(", ")
        }`,
      );
    }
    const act = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (act === undefined) {
      const allow = Object.keys(methods).join(", ");
      return refuse(
        405,
        "method_not_allowed",
        `Method not allowed on ${path}; allowed: ${allow}`,
        { allow },
      );
    }
    let body: unknown;
    if (act.length > 0) {
      const text = await readText(
        request,
        { maxBodyBytes: MAX_BYTES, bodyTimeout: 10_000 },
        readBody,
      );
      if (typeof text !== "string") return text;
      try {
        body = parseWithInt64(text, "categoryId", "id");
      } catch {
        return notJson;
      }
    }
    try {
      const result = act(body);
      return result === undefined
        ? { status: 204, headers: {}, body: null }
        : jsonAnswer(200, JSON.stringify(result));
    } catch (cause) {
      return refuse(400, "bad_request", (cause as Error).message); // the checks throw errors
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
  if (!isKnown && !LOOPBACK.test(name)) {
    return "Cannot serve this host: start the sandbox with --name and this host";
  }
  const isForeign =
    (headers.get("origin") ?? `http://${host}`) !== `http://${host}` ||
    headers.get("sec-fetch-site") === "cross-site";
  return isForeign ? "Cannot serve a web page of another origin" : undefined;
}

function refuse(
  status: number,
  code: string,
  message: string,
  fields?: Fields,
): Answer {
  return jsonAnswer(status, JSON.stringify({ code, message, status }), fields);
}
