/**
 * What the standalone server adds around the service: request ids, the log, probes, the page that
 * documents it, CORS, the limit for addresses, and an orderly end.
 *
 * @module
 */

import type { AddCors } from "../../core/http/cors.ts";
import {
  internalError,
  Refusal,
  shuttingDown,
  tooManyRequests,
} from "../../core/http/refusal.ts";
import { type Fields, jsonReply, type Reply } from "../../core/http/reply.ts";
import { parseTarget } from "../../core/http/target.ts";
import type { ServiceRequest } from "../../core/operation.ts";
import type { PetStorage } from "../../core/pets/pet_storage.ts";
import type { Answer, Service } from "../../core/service.ts";
import type { DocsReplies } from "../docs/replies.ts";
import type { Log } from "./log.ts";
import { peerAddress } from "./peer_address.ts";
import type { RateLimiter } from "./rate_limit.ts";

/** What the app is made of. */
export interface AppParts {
  readonly service: Service;
  /** The page that documents the service; asked only for paths that the service does not have. */
  readonly docs?: DocsReplies | undefined;
  readonly storage: PetStorage;
  readonly log: Log;
  readonly addCors?: AddCors | undefined;
  /** Counts, by the address that they come from, the requests without a valid key. */
  readonly limitAddress?: RateLimiter | undefined;
}

/** The server's service, and its end. */
export interface App {
  readonly answer: Service;
  /** From now on new requests are answered 503; fulfilled when none is being answered. */
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

/** Makes the app. */
export function createApp(
  { service, docs, storage, log, addCors, limitAddress }: AppParts,
): App {
  const nextId = requestIds();
  let inFlight = 0;
  let drained: PromiseWithResolvers<void> | undefined;

  async function answerAny(
    request: ServiceRequest,
    connection: unknown,
  ): Promise<Answer> {
    if (drained !== undefined) {
      return await answerOwn(request) ?? { reply: shuttingDown };
    }
    const answer = await service(request);
    if (limitAddress !== undefined && answer.reply.status === 401) {
      const limited = limitAddress(peerAddress(request, connection));
      return limited === undefined ? answer : refuseInstead(answer, limited);
    }
    if (answer.template !== undefined) {
      // `deno serve` takes the rest of a body away when it is told to stop: not the client's fault.
      const isCut = drained !== undefined && request.method === "POST" &&
        answer.reply.status === 400;
      return isCut ? { ...answer, reply: shuttingDown } : answer;
    }
    return answer.reply.status === 404
      ? await answerOwn(request) ?? answer
      : answer;
  }

  /** Answers for the paths that the server has beside those of the service. */
  async function answerOwn(
    request: ServiceRequest,
  ): Promise<Answer | undefined> {
    const target = parseTarget(request);
    if (target instanceof Refusal) return undefined;
    const { path } = target;
    if (path === "/livez" || path === "/readyz") {
      const isProbe = request.method === "GET" || request.method === "HEAD";
      if (!isProbe) return { reply: methodNotAllowed, template: path };
      if (path === "/livez") return { reply: ok, template: path };
      return { ...await readiness(), template: path };
    }
    if (drained !== undefined) return undefined;
    const reply = await docs?.(request, path);
    return reply && { reply, template: path };
  }

  async function readiness(): Promise<Answer> {
    if (drained !== undefined) return { reply: shuttingDown };
    try {
      await storage.ping();
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
      const id = sent !== null && WELL_FORMED_ID.test(sent) ? sent : nextId();
      let answer: Answer;
      try {
        answer = await answerAny(request, connection);
      } catch (cause) {
        answer = { reply: internalError, cause };
      }
      const { template, cause } = answer;
      const reply = addCors?.(request, answer.reply) ?? answer.reply;
      if (cause !== undefined) log.fault(cause, id);
      log.request({
        method: request.method,
        route: template,
        status: reply.status,
        ms: performance.now() - start,
        id,
      });
      if (--inFlight === 0) drained?.resolve();
      return { reply: withId(reply, id), template, cause };
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

/** The form of a client's own request id that is kept: 1 to 128 unreserved characters. */
const WELL_FORMED_ID = /^[A-Za-z0-9._~-]{1,128}$/;

/** Makes ids that no other process and no other start makes: a random prefix and a count. */
function requestIds(): () => string {
  const prefix = crypto.randomUUID().replaceAll("-", "").slice(0, 20);
  let count = 0;
  return () => `${prefix}-${++count}`;
}

function withId({ status, headers, body }: Reply, id: string): Reply {
  return { status, headers: { ...headers, "x-request-id": id }, body };
}
