/** The configuration of the standalone server: environment variables, checked at the start. */

import { type BaseUrl, parseBaseUrl } from "../../core/http/base_url.ts";
import { corsLayer } from "../../core/http/cors.ts";
import type { Layer } from "../../core/http/message.ts";
import { type ApiKeys, apiKeys } from "../../core/keys/api_keys.ts";
import { parsePostgresUrl, type PostgresAddress } from "../postgres/address.ts";
import type { RateLimit } from "./rate_limit.ts";

/** A database that outlives the program. */
export type LastingDatabase =
  | { readonly kind: "sqlite"; readonly path: string }
  | { readonly kind: "postgres"; readonly address: PostgresAddress };

/** Where pets and issued keys are kept. */
export type Database = { readonly kind: "memory" } | LastingDatabase;

export interface Config {
  readonly database: Database;
  /** Keys that are accepted in addition to issued ones; absent if there are none. */
  readonly fixedKeys: ApiKeys | undefined;
  readonly baseUrl: BaseUrl;
  /** Absent if pages of other origins may read nothing. */
  readonly cors: Layer | undefined;
  /** For each API key, and for each address if there is no valid key; absent if there is no limit. */
  readonly rateLimit: RateLimit | undefined;
  readonly host: string;
  readonly port: number;
  /** If true, each request is logged. */
  readonly requestLog: boolean;
  /** If true, `/metrics` answers. */
  readonly metrics: boolean;
  /** Time that requests in flight may take to finish at the end, in ms. */
  readonly shutdownTimeout: number;
}

/** A setting that is wrong. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** The variables that are read. */
export const VARIABLES = [
  "DATABASE_URL",
  "PETSTORE_API_KEYS",
  "BASE_URL",
  "CORS_ORIGINS",
  "RATE_LIMIT",
  "PETSTORE_HOST",
  "PORT",
  "REQUEST_LOG",
  "METRICS",
  "SHUTDOWN_TIMEOUT",
] as const;

/** @throws {ConfigError} for the first variable that is wrong; it never shows a key or a password. */
export function readConfig(
  environment: Readonly<Record<string, string | undefined>>,
): Config {
  for (const name of VARIABLES) {
    if (environment[name] === "") {
      throw new ConfigError(`${name} is empty: set it, or unset it`);
    }
  }
  const {
    DATABASE_URL = "sqlite:petstore.db",
    PETSTORE_API_KEYS,
    BASE_URL = "/v1",
    CORS_ORIGINS,
    RATE_LIMIT,
    PETSTORE_HOST = "127.0.0.1",
    PORT = "8000",
    REQUEST_LOG = "on",
    METRICS = "off",
    SHUTDOWN_TIMEOUT = "10",
  } = environment;
  return {
    database: DATABASE_URL === "memory:"
      ? { kind: "memory" }
      : readLastingDatabase("DATABASE_URL", DATABASE_URL),
    fixedKeys: PETSTORE_API_KEYS === undefined
      ? undefined
      : check("PETSTORE_API_KEYS", () => apiKeys(splitList(PETSTORE_API_KEYS))),
    baseUrl: check("BASE_URL", () => parseBaseUrl(BASE_URL)),
    cors: CORS_ORIGINS === undefined
      ? undefined
      : check("CORS_ORIGINS", () =>
        corsLayer({
          origins: CORS_ORIGINS === "*" ? "*" : splitList(CORS_ORIGINS),
        })),
    rateLimit: readRateLimit(RATE_LIMIT),
    host: PETSTORE_HOST,
    port: readPort("PORT", PORT),
    requestLog: readSwitch("REQUEST_LOG", REQUEST_LOG),
    metrics: readSwitch("METRICS", METRICS),
    shutdownTimeout: 1000 *
      readInteger("SHUTDOWN_TIMEOUT", SHUTDOWN_TIMEOUT, 3600),
  };
}

function readSwitch(name: string, text: string): boolean {
  if (text === "on" || text === "off") return text === "on";
  throw mustBe(name, "on or off", text);
}

function splitList(text: string): readonly string[] {
  return text.split(",").map((item) => item.trim());
}

function readRateLimit(text: string | undefined): RateLimit | undefined {
  if (text === undefined) return undefined;
  const [, requests, seconds] =
    /^([1-9][0-9]{0,8})\/([1-9][0-9]{0,4})s$/.exec(text) ?? [];
  if (requests !== undefined) {
    return { requests: Number(requests), seconds: Number(seconds) };
  }
  throw mustBe("RATE_LIMIT", "requests and seconds, such as 100/10s", text);
}

/** Reads a port: 0 to 65535; 0 is any free one. */
export function readPort(name: string, text: string): number {
  return readInteger(name, text, 65_535);
}

/** @throws {ConfigError} if the address is wrong; it shows nothing that may be a password. */
export function readLastingDatabase(
  name: string,
  url: string,
): LastingDatabase {
  if (/^postgres(?:ql)?:\/\//.test(url)) {
    const address = check(name, () => parsePostgresUrl(url));
    return { kind: "postgres", address };
  }
  const path = /^sqlite:(?:\/\/(?=\/))?(?!\/\/)([^:].*)$/s.exec(url)?.[1];
  if (path !== undefined) return { kind: "sqlite", path };
  // Of anything else only the scheme is shown: what follows may hold a password.
  const [scheme] = /^[a-z0-9+.-]+:/i.exec(url) ?? [];
  const hint = scheme === "sqlite:"
    ? "; after sqlite: comes a path, without // (sqlite:petstore.db, sqlite:/srv/pets.db)"
    : scheme && `, not ${scheme}…`;
  const more = name === "DATABASE_URL" ? ", or memory:" : "";
  throw new ConfigError(
    `${name} must be sqlite:PATH (such as sqlite:petstore.db) or ` +
      `postgres://USER:PASSWORD@HOST:PORT/DATABASE${more}${hint ?? ""}`,
  );
}

function readInteger(name: string, text: string, max: number): number {
  const value = /^[0-9]{1,9}$/.test(text) ? Number(text) : NaN;
  if (value <= max) return value;
  throw mustBe(name, `an integer from 0 to ${max}`, text);
}

function mustBe(name: string, what: string, text: string): ConfigError {
  return new ConfigError(
    `${name} must be ${what}, not ${JSON.stringify(text)}`,
  );
}

/** Reads a setting by a function of another module, whose errors then name the setting. */
export function check<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new ConfigError(`${name}: ${(cause as Error).message}`, { cause });
  }
}
