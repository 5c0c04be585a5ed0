/**
 * Parses the address of a PostgreSQL database: a connection URI of libpq (its manual, "Connection
 * URIs").
 */

import { readFileSync } from "node:fs";
import process from "node:process";
import type { ConnectionOptions } from "node:tls";

/** Where a server listens. The defaults are `PGHOST` and `PGPORT`. */
export interface PostgresHost {
  /** A name, an IP address, or the directory of a Unix socket. */
  readonly host?: string | undefined;
  readonly port?: number | undefined;
}

export type PostgresAddress = Readonly<ReturnType<typeof parsePostgresUrl>>;

type ConnectionParameters = Readonly<Record<string, string | undefined>>;

/** The known parameters, and the values of those that have a choice. */
const PARAMETERS: Readonly<Record<string, readonly string[] | undefined>> = {
  host: undefined,
  port: undefined,
  user: undefined,
  password: undefined,
  dbname: undefined,
  sslmode: ["disable", "require", "verify-ca", "verify-full"],
  sslrootcert: undefined,
  sslcert: undefined,
  sslkey: undefined,
  channel_binding: ["disable", "prefer", "require"],
  application_name: undefined,
  options: undefined,
  target_session_attrs: ["any", "read-write", "primary"],
  pgbouncer: ["true", "false"],
  connection_limit: undefined,
};

/**
 * Parses `postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?PARAMETERS`.
 *
 * @param environment supplies the default `PGSSLMODE`; other `PGSSL…` variables only warn.
 * @throws {TypeError} if it is malformed, or has a parameter that is unknown or wrong. The message
 * does not show the password.
 */
export function parsePostgresUrl(
  url: string,
  environment: ConnectionParameters = process.env,
) {
  const parts =
    /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^@/?#]+)?(?:\/([^@/?#]*))?(?:\?([^@#]*))?$/
      .exec(url);
  if (parts === null) {
    throw wrong(
      "it must be postgres://USER:PASSWORD@HOST:PORT/DATABASE, with characters such as @ / ? # percent-encoded in the password",
    );
  }
  const [, credentials, authority = "", path, query = ""] = parts;
  const [user, password] = credentials?.split(/:(.*)/s) ?? [];
  const parameters = readParameters(query);
  const hosts = readHosts(parameters.host ?? authority, parameters.port);
  const binding = parameters.channel_binding ?? "disable";
  const session = parameters.target_session_attrs ??
    (hosts.length > 1 ? "read-write" : "any");
  const limit = parameters.connection_limit ?? "10";
  const ignored = ["PGSSLROOTCERT", "PGSSLCERT", "PGSSLKEY"]
    .filter((name) => environment[name] !== undefined);
  return {
    /** Warnings for the owner of the address. */
    cautions: ignored.map((name) =>
      `${name} is ignored: put ${
        name.slice(2).toLowerCase()
      } into the address, with sslmode=verify-full`
    ),
    /** In the order in which they are tried; at least one. */
    hosts,
    /**
     * Settings of the driver. For those that are absent it uses `PGUSER`, `PGDATABASE` and so on.
     */
    driver: {
      user: (parameters.user ?? decode(user)) || undefined,
      password: (parameters.password ?? decode(password)) || undefined,
      database: (parameters.dbname ?? decode(path)) || undefined,
      /** Command-line options for the server: `-c search_path=shop`. */
      options: parameters.options || undefined,
      /** `false` if the connection is not encrypted. */
      ssl: readTls(parameters, environment.PGSSLMODE),
      /** If true, SCRAM is bound to the encrypted channel when the server supports that. */
      enableChannelBinding: binding !== "disable",
      /**
       * If true, a server that does not support it is refused. The driver itself has no such
       * setting.
       */
      requireChannelBinding: binding === "require",
      /** The name of this program in `pg_stat_activity`. */
      application_name: parameters.application_name ?? "petstore",
      /** The maximum number of connections. */
      max: readInteger("connection_limit", limit, 1000),
    },
    /** If true, read-only servers are skipped. Default: true if there are several hosts. */
    writable: session !== "any",
    /** If true, a pooler may give each transaction a different connection. */
    pgbouncer: parameters.pgbouncer === "true",
  };
}

/** Names servers, for messages. */
export function describeHosts(hosts: readonly PostgresHost[]): string {
  const { PGHOST = "localhost" } = process.env;
  return hosts.map(({ host = PGHOST, port }) =>
    port === undefined ? host : `${host}:${port}`
  ).join(", ");
}

function readParameters(query: string): ConnectionParameters {
  const parameters: Record<string, string> = {};
  for (const part of query.split("&").filter((part) => part !== "")) {
    // Not URLSearchParams, because here a + is a plus.
    const [name = "", value] = part.split(/=(.*)/s).map(decode);
    if (!Object.hasOwn(PARAMETERS, name)) {
      // Without a value, or after the password, it may be part of it.
      const shown = value === undefined || parameters.password !== undefined
        ? "a parameter"
        : `parameter ${name}`;
      const known = Object.keys(PARAMETERS).join(", ");
      throw wrong(`${shown} is unknown; use ${known}`);
    }
    parameters[name] = value ?? "";
    checkChoice(name, value ?? "", PARAMETERS[name]);
  }
  return parameters;
}

/** Reads `a:5432,b,[::1]:5433`. The parameter `port` may give the ports separately: `5432,5433`. */
function readHosts(hosts: string, ports = ""): readonly PostgresHost[] {
  const list = hosts.split(",");
  const separate = ports.split(",");
  if (separate.length > 1 && separate.length !== list.length) {
    throw wrong("port must be one port, or one for each host");
  }
  return list.map((text, index) => {
    const match = /^(\[[^\]]*\]|[^:]*)(?::([0-9]*))?$/.exec(text);
    const [, name = "", port] = match ?? [];
    if (name === "" && text !== "") {
      throw wrong(
        "each host must be HOST or HOST:PORT, and an IPv6 address in []",
      );
    }
    const portText = port || separate[separate.length > 1 ? index : 0];
    return {
      host: decode(name.replace(/^\[(.*)\]$/, "$1")) || undefined,
      port: portText ? readInteger("port", portText, 65_535) : undefined,
    };
  });
}

function readTls(
  parameters: ConnectionParameters,
  byDefault = "disable",
): ConnectionOptions | false {
  const { sslmode, sslrootcert, sslcert, sslkey } = parameters;
  const mode = sslmode ?? byDefault;
  checkChoice("PGSSLMODE", mode, PARAMETERS.sslmode);
  if (mode === "disable") {
    const useless = ["sslrootcert", "sslcert", "sslkey"]
      .find((name) => parameters[name] !== undefined);
    if (useless === undefined) return false;
    throw wrong(
      `${useless} needs an sslmode that encrypts: add sslmode=verify-full`,
    );
  }
  // As in libpq, `system` means the authorities of the runtime.
  const ca = readText("sslrootcert", sslrootcert?.replace(/^system$/, ""));
  // As in libpq, `require` with a root certificate means `verify-ca`.
  const isUnchecked = mode === "require" && sslrootcert === undefined;
  // As in libpq: with the runtime's authorities, the certificate of any name would do.
  if (mode !== "verify-full" && !isUnchecked && !ca) {
    throw wrong(
      `sslmode=${mode} needs sslrootcert, the file of your own authority, or use sslmode=verify-full`,
    );
  }
  const checks = isUnchecked
    ? { rejectUnauthorized: false }
    : mode !== "verify-full" && { checkServerIdentity: () => undefined };
  return {
    ...checks,
    ca,
    cert: readText("sslcert", sslcert),
    key: readText("sslkey", sslkey),
  };
}

function readText(parameter: string, path = ""): string | undefined {
  try {
    return path === "" ? undefined : readFileSync(path, "utf8");
  } catch (cause) {
    const { message } = cause as Error;
    throw wrong(`the file of ${parameter} cannot be read: ${message}`, cause);
  }
}

/** @param choices the values that are allowed. Default: any. */
function checkChoice(
  name: string,
  value: string,
  choices: readonly string[] = [value],
): void {
  if (choices.includes(value)) return;
  throw wrong(
    `${name} must be one of ${choices.join(", ")}, not ${
      JSON.stringify(value)
    }`,
  );
}

function readInteger(name: string, text: string, max: number): number {
  if (/^[1-9][0-9]{0,4}$/.test(text) && Number(text) <= max) {
    return Number(text);
  }
  // The text is not shown: if the host is missing, it may be the password.
  throw wrong(`${name} must be an integer from 1 to ${max}`);
}

function decode(text = ""): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw wrong("a % must be followed by two hexadecimal digits", cause);
  }
}

function wrong(reason: string, cause?: unknown): TypeError {
  return new TypeError(`Wrong address: ${reason}`, { cause });
}
