/** What the standalone server adds around the service, from request ids and probes to an orderly end. */

import type { AddCors } from "../../core/http/cors.ts";
import {
  internalError,
  Refusal,
  shuttingDown,
  tooManyRequests,
} from "../../core/http/refusal.ts";
import { type Fields, jsonReply } from "../../core/http/reply.ts";
import { parseTarget } from "../../core/http/target.ts";
import type { ServiceRequest } from "../../core/operation.ts";
import type { PetStorage } from "../../core/pets/pet_storage.ts";
import type { Answer, Service } from "../../core/service.ts";
import type { DocsReplies } from "../docs/replies.ts";
import type { Log } from "./log.ts";
import { peerAddress, type RateLimiter } from "./rate_limit.ts";

interface AppParts {
  readonly service: Service;
  /** The page that documents the service, for paths that the service does not have. */
  readonly docs?: DocsReplies | undefined;
  readonly storage: PetStorage;
  readonly log: Pick<Log, "request" | "fault">;
  /** Answers `/metrics`; absent if there is no such path. */
  readonly metrics?: (() => Answer) | undefined;
  readonly addCors?: AddCors | undefined;
  /** Counts the requests without a valid key, by the address that they come from. */
  readonly limitAddress?: RateLimiter | undefined;
}

export interface App {
  readonly answer: Service;
  /** Refuses new requests with 503 from now on; fulfilled once no request is in flight. */
  drain(): Promise<void>;
}

const ok = jsonReply(200, '{"status":"ok"}');
const methodNotAllowed = new Refusal(
  "method_not_allowed",
  "Cannot use this method on a probe: it has GET, HEAD",
  { allow: "GET, HEAD" },
);
const notReady = new Refusal(
  "service_unavailable",
  "Cannot reach the storage now",
  { "retry-after": "1" },
);

export function createApp(
  { service, docs, storage, log, metrics, addCors, limitAddress }: AppParts,
): App {
  // No other process and no other start makes the same ids.
  const prefix = crypto.randomUUID().replaceAll("-", "").slice(0, 20);
  let count = 0;
  let inFlight = 0;
  let pinging: Promise<void> | undefined;
  let drained: PromiseWithResolvers<void> | undefined;
  const probes: Record<string, AppParts["metrics"] | typeof readiness> = {
    "/livez": () => ({ reply: ok }),
    "/readyz": readiness,
    "/metrics": metrics,
  };

  /** The answer to a request that the service refuses: some of them are this server's to answer. */
  async function answerRefused(
    request: ServiceRequest,
    connection: unknown,
    answer: Answer,
  ): Promise<Answer> {
    const { reply: { status }, template } = answer;
    if (template === undefined) {
      const isOurs = status === 404 || answer.reply === shuttingDown;
      return isOurs && await answerOwn(request) || answer;
    }
    if (limitAddress !== undefined && status === 401) {
      const limited = limitAddress(peerAddress(request, connection));
      return limited === undefined ? answer : refuseInstead(answer, limited);
    }
    // `deno serve` takes the rest of a body away when it is told to stop: not the client's fault.
    const isCut = drained !== undefined && request.method === "POST" &&
      status === 400;
    return isCut ? { ...answer, reply: shuttingDown } : answer;
  }

  /** Answers for the server's own paths. */
  async function answerOwn(
    request: ServiceRequest,
  ): Promise<Answer | undefined> {
    const target = parseTarget(request);
    if (target instanceof Refusal) return undefined;
    const { path } = target;
    const probe = probes[path];
    if (probe !== undefined) {
      const isProbe = request.method === "GET" || request.method === "HEAD";
      const answer = isProbe ? await probe() : { reply: methodNotAllowed };
      return { ...answer, template: path };
    }
    if (drained !== undefined) return undefined;
    const reply = await docs?.(request, path);
    return reply && { reply, template: path };
  }

  async function readiness(): Promise<Answer> {
    if (drained !== undefined) return { reply: shuttingDown };
    try {
      // One look serves all that ask meanwhile: strangers may ask as often as they like.
      await (pinging ??= storage.ping().finally(() => pinging = undefined));
      return { reply: ok };
    } catch (cause) {
      return { reply: notReady, cause };
    }
  }

  return {
    async answer(request, connection) {
      inFlight++;
      const start = performance.now();
      const sent = request.headers.get("x-request-id");
      const id = sent !== null && WELL_FORMED_ID.test(sent)
        ? sent
        : `${prefix}-${++count}`;
      let answer = drained === undefined
        ? await service(request)
        : { reply: shuttingDown };
      if (answer.reply.status >= 400) {
        answer = await answerRefused(request, connection, answer)
          .catch((cause): Answer => ({ reply: internalError, cause }));
      }
      const { template, cause } = answer;
      const reply = addCors?.(request, answer.reply) ?? answer.reply;
      const { status, headers, body } = reply;
      if ("cause" in answer) log.fault(cause, id);
      const { method } = request;
      const ms = performance.now() - start;
      log.request({ method, route: template, status, ms, id });
      if (--inFlight === 0) drained?.resolve();
      const withId = { ...headers, "x-request-id": id };
      return { reply: { status, headers: withId, body }, template, cause };
    },
    drain() {
      drained ??= Promise.withResolvers();
      if (inFlight === 0) drained.resolve();
      return drained.promise;
    },
  };
}

/** The 429 in place of a 401, whose challenge stays: with a valid key there is no 429. */
function refuseInstead(answer: Answer, limited: Fields): Answer {
  const { status, body } = tooManyRequests;
  const headers = { ...answer.reply.headers, ...limited };
  return { ...answer, reply: { status, headers, body } };
}

/** A client's own request id is kept if it is 1 to 128 unreserved characters. */
const WELL_FORMED_ID = /^[A-Za-z0-9._~-]{1,128}$/;
