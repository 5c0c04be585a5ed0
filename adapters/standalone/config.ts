/** The configuration of the standalone server: environment variables, checked at startup. */

import { apiKeys, parseBaseUrl } from "../../core/kit.ts";
import { corsLayer } from "../layers/cors.ts";
import {
  parsePostgresUrl,
  type PostgresAddress,
} from "../storage/postgres/address.ts";
import { readUtf8 } from "../program/command_line.ts";
import {
  check,
  integer,
  mustBe,
  readHost,
  readPort,
} from "../program/values.ts";
import type { RateLimitOptions } from "../layers/rate_limit.ts";

/** A database that outlives the program. */
export type LastingDatabase =
  | { readonly kind: "sqlite"; readonly path: string }
  | { readonly kind: "postgres"; readonly address: PostgresAddress };

export type Database = { readonly kind: "memory" } | LastingDatabase;

/**
 * Every variable, its default and its meaning, as `start --help` shows them. Tests check that
 * `readConfig`, the documents and the permissions in `deno.json` name the same ones.
 */
export const SETTINGS = `\
  DATABASE_URL            sqlite:petstore.db; or sqlite:PATH, postgres://USER:PASSWORD@HOST/DATABASE, memory:
  DATABASE_URL_FILE       none; a file that contains DATABASE_URL, which must then not be set
  PETSTORE_API_KEYS       none; fixed keys, separated by commas, accepted in addition to issued ones
  PETSTORE_API_KEYS_FILE  none; a file that contains PETSTORE_API_KEYS, which must then not be set
  BASE_URL                /v1; a path, or an absolute URL that Location and Link are made from
  CORS_ORIGINS            none; origins whose pages may read responses, separated by commas, or *
  RATE_LIMIT              none; such as 100/10s: for each API key, and for each address without a valid key
  TRUST_PROXY             none; how many proxies add the client's address to X-Forwarded-For
  MAX_BODY_BYTES          65536; maximum size of a request body, in bytes
  IDEMPOTENCY_RETENTION   86400; how long an Idempotency-Key is kept, in seconds
  PETSTORE_HOST           127.0.0.1; same as --host
  PORT                    8000; same as --port
  REQUEST_LOG             on; off logs no line for each request
  METRICS                 off; on adds /metrics, for Prometheus
  ADMIN_PORT              none; another port for the probes and metrics, which then alone has /metrics
  ADMIN_HOST              same as the server; the address of ADMIN_PORT
  SHUTDOWN_DELAY          0; seconds to keep serving after a stop signal while /readyz fails, so that load balancers stop sending requests
  SHUTDOWN_TIMEOUT        10; seconds that requests in flight may take to finish at shutdown
`;

export type Config = ReturnType<typeof readConfig>;

/**
 * Reads the variables.
 *
 * @throws {Error} for the first variable that is wrong; it never shows a key or a password.
 */
export function readConfig(
  environment: Readonly<Record<string, string | undefined>>,
) {
  function read<T>(name: string, parse: (text: string) => T): T | undefined {
    const text = environment[name];
    return text === undefined ? undefined : check(name, () => {
      if (text === "") throw new Error("it is empty: set it, or unset it");
      return parse(text);
    });
  }
  /** Reads a setting that may be in a file instead, because it may contain a secret. */
  function readSecret<T>(
    name: "DATABASE_URL" | "PETSTORE_API_KEYS",
    parse: (text: string) => T,
  ): T | undefined {
    const value = read(name, parse);
    return read(`${name}_FILE`, (path) => {
      if (value !== undefined) throw new Error(`${name} is also set`);
      const text = readSecretFile(path).replace(/\r?\n$/, "");
      if (text === "") throw new Error("the file is empty");
      return parse(text);
    }) ?? value;
  }
  function readAdmin() {
    // Kubernetes sets it in every pod if a Service is called `admin`.
    const isService = /^(?:tcp|udp|sctp):\/\//.test(
      environment.ADMIN_PORT ?? "",
    );
    if (isService) {
      notes.push(
        "ADMIN_PORT is ignored: Kubernetes set it, for a Service called admin; enableServiceLinks: false in the pod's spec prevents that",
      );
    }
    const port = isService ? undefined : read("ADMIN_PORT", readPort);
    const hostname = read("ADMIN_HOST", (text) => {
      if (port === undefined) throw new Error("ADMIN_PORT is not set");
      return readHost(text);
    });
    return port === undefined ? undefined : { hostname, port };
  }
  const notes: string[] = [];
  const database: Database = readSecret("DATABASE_URL", readDatabase) ??
    { kind: "sqlite", path: "petstore.db" };
  return {
    database,
    /** Keys that are accepted in addition to issued ones. */
    fixedKeys: readSecret("PETSTORE_API_KEYS", (text) => {
      const keys = splitList(text);
      if (keys.some((key) => /\s/.test(key))) {
        throw new Error(
          "separate keys with commas, not with spaces or line ends",
        );
      }
      return checkedBy(apiKeys, keys);
    }),
    /** The setting that has fixed keys, if there are any. */
    fixedKeysFrom: ["PETSTORE_API_KEYS", "PETSTORE_API_KEYS_FILE"]
      .find((name) => environment[name] !== undefined),
    baseUrl: read("BASE_URL", (text) => checkedBy(parseBaseUrl, text)) ?? "/v1",
    cors: read("CORS_ORIGINS", (text) => {
      const origins = text === "*" ? text : splitList(text);
      return checkedBy((cors) => corsLayer(cors), { origins } as const);
    }),
    /** For each API key, and for each address without a valid key. */
    rateLimit: read("RATE_LIMIT", readRateLimit),
    /** How many proxies are in front. */
    proxies: read("TRUST_PROXY", integer(100, 1)) ?? 0,
    maxBodyBytes: read("MAX_BODY_BYTES", integer(100_000_000, 1)) ?? 65_536,
    /** In ms. */
    idempotencyRetention: 1000 *
      (read("IDEMPOTENCY_RETENTION", integer(31_536_000)) ?? 86_400),
    host: read("PETSTORE_HOST", readHost) ?? "127.0.0.1",
    port: read("PORT", readPort) ?? 8000,
    requestLog: read("REQUEST_LOG", readSwitch) ?? true,
    metrics: read("METRICS", readSwitch) ?? false,
    /** Where the metrics are, if not on the service's port; by default on its host. */
    admin: readAdmin(),
    /** In ms. */
    shutdownDelay: 1000 * (read("SHUTDOWN_DELAY", integer(3600)) ?? 0),
    /** In ms. */
    shutdownTimeout: 1000 * (read("SHUTDOWN_TIMEOUT", integer(3600)) ?? 10),
    /** What a server should log about the variables. */
    notes,
  };
}

const FILE_REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "this user may not read the file",
};

/** Its errors do not show the path: by mistake it may be the secret itself. */
function readSecretFile(path: string): string {
  try {
    return readUtf8(path);
  } catch (error) {
    const { code, name, message } = error as NodeJS.ErrnoException;
    if (name === "NotCapable") throw new Error("--allow-read must name it");
    if (code === undefined) throw new Error(message); // it is not UTF-8
    const reason = FILE_REASONS[code] ?? `the file cannot be read (${code})`;
    throw new Error(reason);
  }
}

/** Returns a value that `make` accepts; it throws for any other. */
function checkedBy<T>(make: (value: T) => unknown, value: T): T {
  make(value);
  return value;
}

function readSwitch(text: string): boolean {
  if (text === "on" || text === "off") return text === "on";
  throw mustBe("on or off", text);
}

function splitList(text: string): readonly string[] {
  return text.split(",").map((item) => item.trim());
}

function readRateLimit(text: string): RateLimitOptions {
  const [, requests, seconds] =
    /^([1-9][0-9]{0,8})\/([1-9][0-9]{0,4})s$/.exec(text) ?? [];
  if (requests !== undefined) {
    return { requests: Number(requests), seconds: Number(seconds) };
  }
  throw mustBe("requests and seconds, such as 100/10s", text);
}

function readDatabase(url: string): Database {
  return url === "memory:"
    ? { kind: "memory" }
    : readLastingDatabase(url, ", or memory:");
}

/**
 * @param more what else is accepted, for messages.
 * @throws {Error} if the address is wrong; it shows nothing that may be a password.
 */
export function readLastingDatabase(url: string, more = ""): LastingDatabase {
  // It would become part of the database's name, and a new database would be created. \s includes
  // the BOM.
  if (/^\s|\s$/.test(url)) {
    throw new Error("remove the spaces or line ends before or after it");
  }
  if (/^postgres(?:ql)?:\/\//.test(url)) {
    return { kind: "postgres", address: parsePostgresUrl(url) };
  }
  const path = /^sqlite:(?:\/\/(?=\/))?(?!\/\/|file:)([^:].*)$/s.exec(url)?.[1];
  if (path !== undefined) return { kind: "sqlite", path };
  // For anything else only the scheme is shown, because the rest may contain a password; or all of
  // it, if there is no "//".
  const [scheme] = /^(?:sqlite|file):|^[a-z0-9+.-]+:(?=\/\/)/i.exec(url) ?? [];
  const hint = scheme === "sqlite:"
    ? "; after sqlite: put a path without // (sqlite:petstore.db, sqlite:/srv/pets.db)"
    : scheme && `, not ${scheme}…`;
  throw new Error(
    "it must be sqlite:PATH (such as sqlite:petstore.db) or " +
      `postgres://USER:PASSWORD@HOST:PORT/DATABASE${more}${hint ?? ""}`,
  );
}
