/** The standalone service: the core's, wrapped in layers, from a configuration. */

import { setTimeout as delay } from "node:timers/promises";
import { serviceOf } from "../handler.ts";
import {
  anyOf,
  apiKeys,
  createPipeline,
  createRouter,
  type Endpoint,
  type Layer,
  readHandlerOptions,
  Refusal,
  type Service,
} from "../../core/kit.ts";
import { corsLayer } from "../layers/cors.ts";
import { issuedKeys } from "../keys/issued_keys.ts";
import { traceLayer } from "../layers/tracing.ts";
import { createPage, SWAGGER_UI } from "../docs/page_endpoints.ts";
import { howToInstall } from "../program/command_line.ts";
import type { Config } from "./config.ts";
import { createDrain } from "../layers/drain.ts";
import type { Life } from "./life.ts";
import { logFault, logLayer, writeLine } from "../layers/log.ts";
import { createMetrics } from "../layers/metrics.ts";
import { openStorage } from "./open_storage.ts";
import { standardError } from "./output.ts";
import { createProbes } from "../layers/probes.ts";
import { createRateLimiter, limitAddressLayer } from "../layers/rate_limit.ts";

/** How long the days on which keys were used may take to be written at the end, in ms. */
const FLUSH_TIME = 1000;

export type OpenService = Awaited<ReturnType<typeof openService>>;

/** Opens the storage, which is closed at the end of `life`, and builds the service on it. */
export async function openService(
  config: Config,
  life: Pick<Life, "open" | "atEnd" | "fail">,
  open = openStorage,
) {
  const { database, fixedKeys, cors, rateLimit, proxies } = config;
  for (const message of config.notes) writeLine(standardError, { message });
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
    ? createMetrics(database, storage.pool)
    : undefined;
  const options = readHandlerOptions({
    storage: metrics?.watch(storage) ?? storage,
    keys: fixedKeys === undefined ? issued : anyOf(apiKeys(fixedKeys), issued),
    baseUrl: config.baseUrl,
    maxBodyBytes: config.maxBodyBytes,
    ...rateLimit && { rateLimit: createRateLimiter("key", rateLimit) },
    onError: () => {}, // the log layer reads the cause from the answer
  });
  const { path: basePath } = options.baseUrl;
  const { layer: drainLayer, leave, drain } = createDrain();
  const logging = logLayer(config);
  const limitAddress = rateLimit &&
    limitAddressLayer(createRateLimiter("address", rateLimit), proxies);
  const page = openPage(`${basePath}/openapi.json`);
  const probes = createProbes(storage);
  const forAdmin = metrics ? [...probes, metrics.endpoint] : probes;
  const onMainPort = config.admin === undefined ? forAdmin : probes;
  const findAdmin = createRouter(forAdmin);

  /** Wraps a service in layers, outermost first: each sees the answers of those after it. */
  function layered(service: Service, addCors?: Layer): Service {
    return [
      metrics?.layer, // counts every answer, and times all that follows
      logging, // logs every answer, even the 503 and the 429 of later layers
      addCors, // pages may read that 503 and 429 too
      drainLayer, // refuses with 503 when the server stops; waits for all that follows
      limitAddress, // turns a 401 of the service into a 429
      traceLayer, // changes no answer; next to the service, as in `createHandler`
    ].reduceRight((inner, layer) => layer?.(inner) ?? inner, service);
  }

  return {
    /** The service, the probes, the page and, unless they have their own port, the metrics. */
    answer: layered(
      serviceOf({
        ...options,
        endpoints: [...onMainPort, ...page.endpoints],
      }),
      cors && corsLayer(cors, basePath),
    ),
    /** The probes and metrics, for their own port. */
    admin: layered(createPipeline(
      (method, path) => findAdmin(method, path) ?? notFound,
      options,
    )),
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
