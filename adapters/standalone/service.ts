/** The standalone service, put together from a configuration. */

import { type ApiKeys, apiKeys } from "../../core/keys/api_keys.ts";
import { parseBaseUrl } from "../../core/http/base_url.ts";
import { toHandler } from "../../core/handler.ts";
import { createCors } from "../../core/http/cors.ts";
import { JSON_HEADERS } from "../../core/http/reply.ts";
import { type IssuedKeys, issuedKeys } from "../../core/keys/issued_keys.ts";
import { createService } from "../../core/service.ts";
import type { DocsReplies } from "../docs/replies.ts";
import { origin } from "../serve/server.ts";
import { type App, createApp } from "./app.ts";
import { howToInstall, PROGRAM } from "./command_line.ts";
import type { Config } from "./config.ts";
import { createLog } from "./log.ts";
import { Metrics } from "./metrics.ts";
import { openStorage } from "./open_storage.ts";
import { createRateLimiter } from "./rate_limit.ts";

export interface Service {
  /** Answers a request; `connection` is what the runtime hands over beside it. */
  handle(request: Request, connection?: unknown): Promise<Response>;
  /** From now on new requests are answered 503; fulfilled when none is being answered. */
  readonly drain: App["drain"];
  /** Tells people that it listens. Issues the very first key, so call it once at most. */
  greet(
    address: { readonly hostname: string; readonly port: number },
  ): Promise<void>;
  /** Reads the documentation page: that takes long, so the server listens first. */
  openDocs(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the storage and builds the service on it. */
export async function openService(config: Config): Promise<Service> {
  const storage = await openStorage(config.database);
  const issued = issuedKeys(storage.apiKeys);
  const baseUrl = parseBaseUrl(config.baseUrl);
  const log = createLog({ requests: config.requestLog });
  const metrics = config.metrics ? new Metrics() : undefined;
  const { cors, rateLimit } = config;
  const limitKey = rateLimit && createRateLimiter(rateLimit);
  let docs: Promise<DocsReplies | string> | undefined;
  const openDocs = () => docs ??= readDocs(`${baseUrl.path}/openapi.json`);
  const app = createApp({
    service: createService({
      storage: metrics?.watch(storage) ?? storage,
      keys: acceptedKeys(config.fixedKeys, issued),
      baseUrl: config.baseUrl,
      ...limitKey && { rateLimit: async (key: string) => limitKey(key) },
    }),
    async docs(request, path) {
      const page = await openDocs();
      if (typeof page !== "string") return await page(request, path);
      if (path !== "/docs" && path !== "/") return undefined;
      const headers = { ...JSON_HEADERS, "content-type": "text/plain" };
      return { status: 404, headers, body: `${page}\n` };
    },
    storage,
    log,
    metrics: metrics && (() => ({ reply: metrics.reply() })),
    addCors: cors && createCors(cors),
    limitAddress: rateLimit && createRateLimiter(rateLimit),
  });

  const service = metrics?.measure(app.answer) ?? app.answer;
  return {
    handle: toHandler({ service, report: () => {} }),
    drain: app.drain,

    openDocs: async () => void await openDocs(),

    async greet(address) {
      const page = await openDocs();
      const server = origin(address.hostname, address.port);
      const pets = `${server}${baseUrl.path}/pets`;
      const where = `The pet store listens at ${pets}
${typeof page === "string" ? page : `Read and try it at ${server}/docs`}
`;
      if (config.fixedKeys.length > 0) return log.tell(where);
      const first = await issued.issueFirst("first key");
      if (first === undefined) {
        const command = `${PROGRAM} keys issue NAME`;
        return log.tell(`${where}For another API key, run: ${command}\n`);
      }
      const curl = `curl -w '\\n' -H "Authorization: Bearer ${first.key}"`;
      log.tell(`${where}
This is the first API key. It is shown only now:

    ${first.key}

Add a pet, then list the pets:

    ${curl} -H "Content-Type: application/json" -d '{"name":"Rex","categoryId":1}' "${pets}"
    ${curl} "${pets}"

`);
    },
    async close() {
      await storage.close().finally(() => log.flush());
    },
  };
}

/** Reads the documentation page, or says why that is not possible: the service works without it. */
async function readDocs(openApiUrl: string): Promise<DocsReplies | string> {
  try {
    const { docsReplies } = await import("../docs/replies.ts");
    return await docsReplies({ openApiUrl, path: "/docs", alias: "/" });
  } catch (cause) {
    const { message } = cause as Error;
    return message.includes("swagger-ui-dist")
      ? `The page /docs needs a package: ${howToInstall("swagger-ui-dist")}`
      : message;
  }
}

function acceptedKeys(
  fixedKeys: readonly string[],
  issued: IssuedKeys,
): ApiKeys {
  if (fixedKeys.length === 0) return issued;
  const fixed = apiKeys(fixedKeys);
  return {
    verify: async (key) => await fixed.verify(key) || await issued.verify(key),
  };
}
