/**
 * The configuration of the standalone server: environment variables, checked at the start.
 *
 * @module
 */

import { apiKeys } from "../../core/keys/api_keys.ts";
import { parseBaseUrl } from "../../core/http/base_url.ts";
import { type CorsOptions, createCors } from "../../core/http/cors.ts";
import type { RateLimit } from "./rate_limit.ts";

/** Where the animals and the issued keys are kept. */
export type Database =
  | { readonly kind: "memory" }
  | { readonly kind: "sqlite"; readonly path: string }
  | { readonly kind: "postgres"; readonly url: string };

/** A checked configuration. */
export interface Config {
  readonly database: Database;
  /** Keys that are accepted beside the issued ones. */
  readonly fixedKeys: readonly string[];
  readonly baseUrl: string;
  /** Absent if pages of other origins may read nothing. */
  readonly cors?: CorsOptions | undefined;
  /** For each API key, and for each address if there is no valid key; absent if there is no limit. */
  readonly rateLimit?: RateLimit | undefined;
  readonly host: string;
  readonly port: number;
  /** Whether a line is written for each request. */
  readonly requestLog: boolean;
  /** How long requests in flight may take to finish at the end, in ms. */
  readonly shutdownTimeout: number;
}

/** A variable that is set, and wrong. Its message is for the operator. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** The variables that are read; what stands in the README's table. */
export const VARIABLES = [
  "DATABASE_URL",
  "PETSTORE_API_KEYS",
  "BASE_URL",
  "CORS_ORIGINS",
  "RATE_LIMIT",
  "PETSTORE_HOST",
  "PORT",
  "REQUEST_LOG",
  "SHUTDOWN_TIMEOUT",
] as const;

/** Environment variables by name, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the configuration.
 *
 * @throws {ConfigError} for the first variable that is wrong; it never shows a key or a password.
 */
export function readConfig(environment: Environment): Config {
  for (const name of VARIABLES) {
    if (environment[name] === "") {
      throw new ConfigError(`${name} is empty: set it, or unset it`);
    }
  }
  return {
    database: readDatabase(
      "DATABASE_URL",
      environment.DATABASE_URL ?? "sqlite:petstore.db",
    ),
    fixedKeys: readKeys(environment.PETSTORE_API_KEYS),
    baseUrl: readBaseUrl(environment.BASE_URL ?? "/v1"),
    cors: readCors(environment.CORS_ORIGINS),
    rateLimit: readRateLimit(environment.RATE_LIMIT),
    host: environment.PETSTORE_HOST ?? "127.0.0.1",
    port: readPort("PORT", environment.PORT ?? "8000"),
    requestLog: readSwitch("REQUEST_LOG", environment.REQUEST_LOG ?? "on"),
    shutdownTimeout: 1000 * readInteger(
      "SHUTDOWN_TIMEOUT",
      environment.SHUTDOWN_TIMEOUT ?? "10",
      { min: 0, max: 3600 },
    ),
  };
}

/** Reads a port from a variable or an argument: 0 to 65535, where 0 is any free one. */
export function readPort(name: string, text: string): number {
  return readInteger(name, text, { min: 0, max: 65_535 });
}

function readInteger(
  name: string,
  text: string,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  const value = /^[0-9]{1,9}$/.test(text) ? Number(text) : NaN;
  if (value >= min && value <= max) return value;
  throw new ConfigError(
    `${name} must be an integer from ${min} to ${max}, not ${
      JSON.stringify(text)
    }`,
  );
}

/** A database that outlives its program. */
export type LastingDatabase = Exclude<Database, { readonly kind: "memory" }>;

/**
 * Reads the address of a database that outlives its program, from a variable or an argument.
 *
 * @throws {ConfigError} where it is none; the message shows nothing that may be a password.
 */
export function readLastingDatabase(
  name: string,
  url: string,
): LastingDatabase {
  return parseDatabase(url) ?? refuseDatabase(name, url, LASTING.join(" or "));
}

function readDatabase(name: string, url: string): Database {
  if (url === "memory:") return { kind: "memory" };
  return parseDatabase(url) ??
    refuseDatabase(name, url, `${LASTING.join(", ")} or memory:`);
}

const LASTING = [
  "sqlite:PATH (sqlite:petstore.db, sqlite:/var/lib/petstore/pets.db)",
  "postgres://USER:PASSWORD@HOST:PORT/DATABASE",
];

function parseDatabase(url: string): LastingDatabase | undefined {
  if (/^postgres(?:ql)?:\/\//.test(url)) return { kind: "postgres", url };
  const path = /^sqlite:(?:\/\/(?=\/))?(?!\/\/)(.+)$/s.exec(url)?.[1];
  return path !== undefined && !path.startsWith(":")
    ? { kind: "sqlite", path }
    : undefined;
}

function refuseDatabase(name: string, url: string, forms: string): never {
  // Only the scheme is shown: what follows may hold a password.
  const scheme = /^[a-z0-9+.-]+:/i.exec(url)?.[0] ?? "no scheme";
  throw new ConfigError(`${name} must be ${forms}, not ${scheme}…`);
}

function readKeys(text: string | undefined): readonly string[] {
  if (text === undefined) return [];
  const keys = text.split(",").map((key) => key.trim());
  try {
    apiKeys(keys);
  } catch (cause) {
    throw new ConfigError(`PETSTORE_API_KEYS is wrong: ${messageOf(cause)}`, {
      cause,
    });
  }
  return keys;
}

function readBaseUrl(text: string): string {
  try {
    parseBaseUrl(text);
  } catch (cause) {
    throw new ConfigError(`BASE_URL is wrong: ${messageOf(cause)}`, { cause });
  }
  return text;
}

function readCors(text: string | undefined): CorsOptions | undefined {
  if (text === undefined) return undefined;
  const origins = text === "*"
    ? text
    : text.split(",").map((origin) => origin.trim());
  try {
    createCors({ origins });
  } catch {
    throw new ConfigError(
      `CORS_ORIGINS must be * or origins separated by commas, such as https://app.example.com, not ${
        JSON.stringify(text)
      }`,
    );
  }
  return { origins };
}

function readRateLimit(text: string | undefined): RateLimit | undefined {
  if (text === undefined) return undefined;
  const [, requests, seconds] =
    /^([1-9][0-9]{0,8})\/([1-9][0-9]{0,4})s$/.exec(text) ?? [];
  if (requests === undefined || seconds === undefined) {
    throw new ConfigError(
      `RATE_LIMIT must be requests and seconds, such as 100/10s, not ${
        JSON.stringify(text)
      }`,
    );
  }
  return { requests: Number(requests), seconds: Number(seconds) };
}

function readSwitch(name: string, text: string): boolean {
  if (text !== "on" && text !== "off") {
    throw new ConfigError(
      `${name} must be on or off, not ${JSON.stringify(text)}`,
    );
  }
  return text === "on";
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
