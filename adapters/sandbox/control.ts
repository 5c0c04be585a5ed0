/** The control address of a sandbox, at which a tester's program drives it. */

import { notJson, readText } from "../../core/http/body.ts";
import {
  type Answer,
  type Fields,
  jsonAnswer,
  type ServiceRequest,
} from "../../core/http/message.ts";
import { quote, Refusal } from "../../core/http/refusal.ts";
import { parseTarget } from "../../core/http/target.ts";
import { parsePets } from "./seed.ts";
import type { Store } from "./store.ts";

/** Where the control address is on its server. */
export const CONTROL = "/sandbox";

/** The most bytes of a body, and of a file of pets. */
export const MAX_BYTES: number = 16 * 1024 * 1024;

const LOOPBACK = /^(?:(?:.*\.)?localhost|127\.[\d.]+|\[::1\])$/i;

/** By path below the control address, and by method: what it does with a body, and what it answers, if anything. */
type Actions = Readonly<
  Record<string, Readonly<Record<string, (body: unknown) => unknown>>>
>;

/** Answers requests to the control address; `hosts` are names by which it may be reached, besides loopback. */
export function createControl(
  store: Store,
  hosts: readonly string[],
): (request: ServiceRequest) => Promise<Answer> {
  const actions: Actions = {
    "": {
      GET: () => ({
        pets: store.pets,
        faults: store.faults,
        requests: store.journal.size,
      }),
    },
    "/reset": { POST: () => store.reset() },
    "/pets": { PUT: (body) => store.seed(body) },
    "/faults": {
      GET: () => store.faults,
      POST: (body) => store.add(body),
      DELETE: () => store.removeFaults(),
    },
    "/requests": {
      GET: () => store.journal.list(),
      DELETE: () => store.journal.clear(),
    },
  };

  return async (request) => {
    const target = parseTarget(request);
    if (target instanceof Refusal) return target;
    const refusal = refuseStranger(request, hosts);
    if (refusal !== undefined) return refusal;
    const path = target.path.slice(CONTROL.length);
    const methods = Object.hasOwn(actions, path) ? actions[path] : undefined;
    if (methods === undefined) {
      const known = Object.keys(actions).map((path) => CONTROL + path);
      return refuse(
        404,
        "not_found",
        `There is no ${quote(target.path)}, only ${known.join(", ")}`,
      );
    }
    const { method } = request;
    const act = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (act === undefined) {
      const allow = Object.keys(methods).join(", ");
      const message = `Method not allowed on ${target.path}; allowed: ${allow}`;
      return refuse(405, "method_not_allowed", message, { allow });
    }
    let body: unknown;
    if (act.length > 0) {
      const limits = { maxBodyBytes: MAX_BYTES, bodyTimeout: 10_000 };
      const text = await readText(request, limits);
      if (text instanceof Refusal) return text;
      try {
        body = parsePets(text);
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
      const { message } = cause as Error; // what checks the body throws errors
      return refuse(400, "bad_request", message);
    }
  };
}

/** Refuses web pages of other origins, also if a name of theirs leads here (DNS rebinding). */
function refuseStranger(
  { headers }: ServiceRequest,
  hosts: readonly string[],
): Answer | undefined {
  const host = headers.get("host") ?? "";
  const name = host.replace(/:\d*$/, "");
  const isKnown = LOOPBACK.test(name) ||
    hosts.some((known) => known.toLowerCase() === name.toLowerCase());
  if (!isKnown) {
    const message = `Cannot serve the host ${
      quote(name)
    }: start the sandbox with --name and this name`;
    return refuse(403, "forbidden", message);
  }
  const origin = headers.get("origin");
  const isForeign = origin !== null && origin !== `http://${host}` ||
    headers.get("sec-fetch-site") === "cross-site";
  return isForeign
    ? refuse(403, "forbidden", "Cannot serve web pages of another origin")
    : undefined;
}

function refuse(
  status: number,
  code: string,
  message: string,
  fields?: Fields,
): Answer {
  return jsonAnswer(status, JSON.stringify({ code, message, status }), fields);
}
