/** The standalone service, put together from a configuration. */

import { parseBaseUrl } from "../../core/http/base_url.ts";
import { JSON_HEADERS } from "../../core/http/message.ts";
import { anyOf, apiKeys } from "../../core/keys/api_keys.ts";
import { issuedKeys } from "../../core/keys/issued_keys.ts";
import { StorageError } from "../../core/pets/pet_storage.ts";
import { createPage, SWAGGER_UI } from "../docs/page_endpoints.ts";
import { origin } from "../http/server.ts";
import { createApp } from "./app.ts";
import { howToInstall, PROGRAM } from "./command_line.ts";
import type { Config } from "./config.ts";
import { createLog } from "./log.ts";
import { Metrics } from "./metrics.ts";
import { openStorage } from "./open_storage.ts";
import { createRateLimiter } from "./rate_limit.ts";

/** Pause before another attempt to issue the first key, in ms. */
const ISSUE_INTERVAL = 1000;

export type OpenService = Awaited<ReturnType<typeof openService>>;

/** Opens the storage and builds the service on it. */
export async function openService(
  config: Config,
  { open = openStorage, isTerminal = false }: {
    readonly open?: typeof openStorage;
    /** If standard error is a terminal, where the first key is issued and shown. Default: false. */
    readonly isTerminal?: boolean;
  } = {},
) {
  const { idempotencyRetention, maxBodyBytes } = config;
  const storage = await open(config.database, { idempotencyRetention });
  const log = createLog({ requests: config.requestLog });
  let isClosed = false;
  const issued = issuedKeys(storage.apiKeys, {
    // After `close()` recording the use of a key may fail, which is not a fault.
    onError: (error) => isClosed || log.fault(error),
  });
  const { baseUrl, database, fixedKeys, cors, rateLimit } = config;
  const { path } = parseBaseUrl(baseUrl);
  const page = createPage({
    openApiUrl: `${path}/openapi.json`,
    path: "/docs",
    alias: "/",
    rememberKey: true,
  });
  let loading: Promise<Error | undefined> | undefined;
  /** Reads the page. Resolves to the error if that fails: the service works without the page. */
  const openDocs = () => loading ??= page.load().then(() => undefined, explain);
  const app = createApp({
    storage,
    keys: fixedKeys === undefined ? issued : anyOf(apiKeys(fixedKeys), issued),
    baseUrl,
    maxBodyBytes,
    ...rateLimit && { rateLimit: createRateLimiter("key", rateLimit) },
    log,
    metrics: config.metrics
      ? new Metrics({
        sqliteFile: database.kind === "sqlite" ? database.path : undefined,
        pool: storage.pool,
      })
      : undefined,
    ...cors && { cors },
    proxies: config.proxies,
    isAdminApart: config.admin !== undefined,
    limitAddress: rateLimit && createRateLimiter("address", rateLimit),
    endpoints: page.endpoints.map((endpoint) => ({
      ...endpoint,
      async run(call) {
        const problem = await openDocs();
        if (problem === undefined) return await endpoint.run(call);
        const headers = { ...JSON_HEADERS, "content-type": "text/plain" };
        return { status: 404, headers, body: `${problem.message}\n` };
      },
    })),
  });

  /**
   * On a terminal, issues the first key and shows it. If that fails, says so once, and retries
   * until it succeeds.
   */
  async function issueFirst(pets: string, isAgain = false): Promise<void> {
    let hint = isTerminal ? "For another API key" : "For an API key";
    try {
      const first = isTerminal && await issued.issueFirst("first key");
      if (first) {
        return void log.tell(introduce(first.key, pets));
      }
    } catch (cause) {
      // An error thrown in the timer of a later attempt would end the process.
      if (!isAgain && !(cause instanceof StorageError)) throw cause;
      const { message } = cause as Error;
      hint = `No API key could be issued: ${message}\nTo issue one`;
      setTimeout(issueFirst, ISSUE_INTERVAL, pets, true);
    }
    if (isAgain) return;
    log.tell(
      `${hint}, run: ${PROGRAM} keys issue NAME\nThe pet store listens at ${pets}\n`,
    );
  }

  return {
    ...app,
    /** Reads the documentation page. That takes long, so the server listens first. */
    openDocs,
    /**
     * Tells people that it listens. On a terminal it issues the very first key, so call it at most
     * once.
     */
    async greet(
      address: { readonly hostname: string; readonly port: number },
    ): Promise<void> {
      const problem = await openDocs();
      const server = origin(address.hostname, address.port);
      const pets = `${server}${path}/pets`;
      const docs = `Read and try it at ${server}/docs\n`;
      // Written even without a page, so that `told` shows whether anything can be written.
      const told = log.tell(problem === undefined ? docs : "\n");
      if (fixedKeys !== undefined) {
        log.tell(
          `The API keys are those in ${config.fixedKeysFrom}\nThe pet store listens at ${pets}\n`,
        );
      } else {
        await told; // a key is shown only once, so none is issued while nothing can be written
        await issueFirst(pets);
      }
      if (problem !== undefined) log.tell(`${problem.message}\n`);
    },
    close(): Promise<void> {
      isClosed = true;
      return storage.close();
    },
  };
}

/** Shows two commands to start with, and then separately the address and the first key. */
function introduce(key: string, pets: string): string {
  const address = `'${pets.replaceAll("'", String.raw`'\''`)}'`; // for a shell
  const curl = `curl -w '\\n' -H "Authorization: Bearer ${key}"`;
  return `
Add a pet, then list the pets:

    ${curl} -H "Content-Type: application/json" -d '{"name":"Rex","categoryId":1}' ${address}
    ${curl} ${address}

The pet store listens at ${pets}
Its first API key, shown only now:

    ${key}

`;
}

/** Says what to do if the package of the documentation page is missing. */
function explain(cause: Error): Error {
  const name = "swagger-ui-dist";
  return cause.message.includes(name)
    ? new Error(`No page at /docs: ${howToInstall(SWAGGER_UI)}`, { cause })
    : cause;
}
