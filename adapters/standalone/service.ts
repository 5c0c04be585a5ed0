/** The standalone service: the core's, wrapped in layers, from a configuration. */

import { setTimeout as delay } from "node:timers/promises";
import { createHandler } from "../handler.ts";
import {
  anyOf,
  apiKeys,
  createPipeline,
  createRouter,
  type Endpoint,
  parseBaseUrl,
  Refusal,
} from "../../core/kit.ts";
import { issuedKeys } from "../keys/issued_keys.ts";
import { createDrain } from "../layers/drain.ts";
import { logLayer } from "../layers/log.ts";
import { createMetrics } from "../layers/metrics.ts";
import { layered } from "../layers/order.ts";
import { probes } from "../layers/probes.ts";
import { createRateLimit } from "../layers/rate_limit.ts";
import { traceLayer } from "../layers/tracing.ts";
import { createPage, SWAGGER_UI } from "../docs/page_endpoints.ts";
import { howToInstall, VERSION } from "../program/command_line.ts";
import type { Config } from "./config.ts";
import type { Life } from "./life.ts";
import { LOG, logFault, logMessage } from "./log.ts";
import { openStorage } from "./open_storage.ts";
import { storageMetrics } from "./storage_metrics.ts";

/** How long the days on which keys were used may take to be written at the end, in ms. */
const FLUSH_TIME = 1000;

export type OpenService = Awaited<ReturnType<typeof openService>>;

/** Opens the storage, which is closed at the end of `life`, and builds the service on it. */
export async function openService(
  config: Config,
  life: Pick<Life, "open" | "atEnd" | "fail">,
  open = openStorage,
) {
  const { database, fixedKeys, cors, maxBodyBytes, proxies } = config;
  config.notes.forEach(logMessage);
  let isClosed = false;
  const storage = await life.open(open(config), (storage) => {
    isClosed = true;
    return storage.close();
  });
  storage.ended?.then((reason) => life.fail(new Error(reason)));
  const issued = issuedKeys(storage.apiKeys, {
    // Once the storage is closed, recording the use of a key may fail, which is not a fault.
    onError: (error) => isClosed || logFault(error),
  });
  // A database that hangs must not keep the server.
  life.atEnd(() => Promise.race([issued.flush(), delay(FLUSH_TIME)]));
  const metrics = config.metrics
    ? createMetrics({
      version: VERSION,
      more: storageMetrics(database, storage.pool),
    })
    : undefined;
  const { layer: drainLayer, leave, drain } = createDrain();
  const limit = config.rateLimit &&
    createRateLimit({ ...config.rateLimit, proxies });
  const layers = [
    logLayer({ ...LOG, write: config.requestLog && LOG.write, proxies }),
    drainLayer,
    ...metrics ? [metrics.layer] : [],
    ...limit ? [limit.byAddress] : [],
  ];
  const { path: basePath } = parseBaseUrl(config.baseUrl);
  const page = openPage(`${basePath}/openapi.json`);
  const ofProbes = probes(storage);
  const forAdmin = metrics ? [...ofProbes, metrics.endpoint] : ofProbes;
  const onMainPort = config.admin === undefined ? forAdmin : ofProbes;
  const findAdmin = createRouter(forAdmin);
  const options = {
    keys: fixedKeys === undefined ? issued : anyOf(apiKeys(fixedKeys), issued),
    ...limit && { rateLimit: limit.byKey },
    onError: () => {}, // the log layer reads the cause from the answer
  };

  return {
    /** The service, the probes, the page and, unless they have their own port, the metrics. */
    answer: createHandler({
      ...options,
      storage: metrics?.watch(storage) ?? storage,
      baseUrl: config.baseUrl,
      maxBodyBytes,
      ...cors && { cors },
      layers,
      endpoints: [...onMainPort, ...page.endpoints],
    }).answer,
    /** The probes and metrics, for their own port. */
    admin: layered(
      createPipeline(
        (method, path) => findAdmin(method, path) ?? notFound,
        options,
      ),
      [...layers, traceLayer],
    ),
    leave,
    drain,
    /** Without a `/` at its end. */
    basePath,
    issuedKeys: issued,
    isInMemory: database.kind === "memory",
    fixedKeysFrom: config.fixedKeysFrom,
    /** Resolves once the documentation page has been read: to what is wrong if that failed. */
    pageProblem: page.problem,
  };
}

const notFound = new Refusal(
  "not_found",
  "Cannot find this path: this port has /livez, /readyz and, if enabled, /metrics",
);

/**
 * Begins to read the documentation page. If that fails, the service works without it, and its
 * endpoints say why.
 */
function openPage(openApiUrl: string) {
  const page = createPage({ openApiUrl, alias: "/", rememberKey: true });
  const problem = page.load().then(() => undefined, explain);
  const endpoints = page.endpoints.map((endpoint): Endpoint => ({
    ...endpoint,
    async run(call) {
      const message = await problem;
      return message === undefined
        ? await endpoint.run(call)
        : new Refusal("not_found", message);
    },
  }));
  return { problem, endpoints };
}

/** Says what to do if the package of the documentation page is missing. */
function explain({ message }: Error): string {
  return message.includes("swagger-ui-dist")
    ? `No page at /docs: ${howToInstall(SWAGGER_UI)}`
    : message;
}
