/**
 * The address of a PostgreSQL database: a connection URI as libpq knows it.
 *
 * @module
 * @see {@link https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS}
 */

import { readFileSync } from "node:fs";
import process from "node:process";
import type { ConnectionOptions } from "node:tls";

/** Where a server listens. What is absent comes from libpq's variables: `PGHOST`, `PGPORT`. */
export interface PostgresHost {
  /** A name, an IP address, or the directory of a Unix socket. */
  readonly host?: string;
  readonly port?: number;
}

/** An address, taken apart. */
export interface PostgresAddress {
  /** The servers to try, in this order; one at least. */
  readonly hosts: readonly PostgresHost[];
  /** What is absent comes from libpq's variables: `PGUSER`, `PGPASSWORD`, `PGDATABASE`. */
  readonly user?: string;
  readonly password?: string;
  readonly database?: string;
  /** How the connection is encrypted; `false`: it is not. */
  readonly ssl: ConnectionOptions | false;
  /** Whether SCRAM is bound to the encrypted channel, where the server offers that. */
  readonly channelBinding: boolean;
  /** What the server shows of this program in `pg_stat_activity`. */
  readonly applicationName: string;
  /** Command-line options for the server: `-c search_path=shop`. */
  readonly options?: string;
  /** Whether a server that only reads is passed over. */
  readonly writable: boolean;
  /** Whether a pooler gives every transaction another connection. */
  readonly pgbouncer: boolean;
  /** The most connections at once. */
  readonly connectionLimit: number;
}

const PARAMETERS = [
  "host",
  "port",
  "user",
  "password",
  "dbname",
  "sslmode",
  "sslrootcert",
  "sslcert",
  "sslkey",
  "channel_binding",
  "application_name",
  "options",
  "target_session_attrs",
  "pgbouncer",
  "connection_limit",
] as const;
type Parameter = typeof PARAMETERS[number];
type Parameters = Readonly<Partial<Record<Parameter, string>>>;

/**
 * Reads a connection URI: `postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?PARAMETERS`.
 *
 * @param environment gives `PGSSLMODE`, which is taken where the address has no `sslmode`.
 * @throws {TypeError} where it is none, or has a parameter that is unknown or wrong. The message
 * shows neither the password nor the rest of the address.
 */
export function parsePostgresUrl(
  url: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): PostgresAddress {
  const parts =
    /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^@/?#]*)(?:\/([^@/?#]*))?(?:\?([^@#]*))?$/
      .exec(url);
  if (parts === null) {
    throw new TypeError(
      "It must be postgres://USER:PASSWORD@HOST:PORT/DATABASE; characters such as @ / ? # in a password are percent-encoded",
    );
  }
  const [, credentials = "", authority = "", path = "", query = ""] = parts;
  const [user, password] = credentials.split(/:(.*)/s, 2);
  const parameters = readParameters(query);
  const hosts = readHosts(parameters.host ?? authority, parameters.port);
  return {
    hosts,
    ...given("user", parameters.user ?? decode(user)),
    ...given("password", parameters.password ?? decode(password)),
    ...given("database", parameters.dbname ?? decode(path)),
    ...given("options", parameters.options),
    ssl: readTls(parameters, environment.PGSSLMODE),
    channelBinding: choose(parameters, "channel_binding", "disable", {
      disable: false,
      prefer: true,
      require: true,
    }),
    applicationName: parameters.application_name ?? "petstore",
    // Of several servers all but one only read.
    writable: choose(
      parameters,
      "target_session_attrs",
      hosts.length > 1 ? "read-write" : "any",
      { "any": false, "read-write": true, "primary": true },
    ),
    pgbouncer: choose(parameters, "pgbouncer", "false", {
      true: true,
      false: false,
    }),
    connectionLimit: readInteger(
      "connection_limit",
      parameters.connection_limit ?? "10",
      1000,
    ),
  };
}

/** The servers of an address in words, for messages. */
export function describeHosts(hosts: readonly PostgresHost[]): string {
  return hosts.map(({ host, port }) =>
    [host ?? "the default host", port].filter((part) => part !== undefined)
      .join(":")
  ).join(", ");
}

function readParameters(query: string): Parameters {
  const parameters: Partial<Record<Parameter, string>> = {};
  for (const part of query.split("&").filter((part) => part !== "")) {
    // Not URLSearchParams: here + is a plus.
    const [name = "", value] = part.split(/=(.*)/s, 2).map(decode);
    const parameter = PARAMETERS.find((known) => known === name);
    if (parameter === undefined) {
      // What does not look like a name may be a piece of a password.
      const shown = value === undefined
        ? "a parameter"
        : `the parameter ${name}`;
      throw new TypeError(
        `It has ${shown} that is not known; known are ${PARAMETERS.join(", ")}`,
      );
    }
    parameters[parameter] = value ?? "";
  }
  return parameters;
}

/** `a:5432,b,[::1]:5433`; in the parameters `host` and `port` the ports stand by themselves. */
function readHosts(
  hosts: string,
  ports: string | undefined,
): readonly PostgresHost[] {
  const separate = ports?.split(",") ?? [];
  return hosts.split(",").map((text, index) => {
    const [, name = "", port] = /^(\[[^\]]*\]|[^:]*)(?::([0-9]*))?$/.exec(
      text,
    ) ?? [];
    if (name === "" && text !== "") {
      throw new TypeError("It has a host that is not HOST or HOST:PORT");
    }
    const portText = port || separate[index] || separate[0];
    return {
      ...given("host", decode(name.replace(/^\[(.*)\]$/, "$1"))),
      ...portText ? { port: readInteger("port", portText, 65_535) } : {},
    };
  });
}

function readTls(
  parameters: Parameters,
  byDefault = "disable",
): ConnectionOptions | false {
  const { sslrootcert, sslcert, sslkey } = parameters;
  const checks = choose<ConnectionOptions | false>(
    parameters,
    "sslmode",
    byDefault,
    // As libpq has them: with a root certificate `require` is `verify-ca`.
    {
      "disable": false,
      "require": sslrootcert === undefined
        ? { rejectUnauthorized: false }
        : ANY_NAME,
      "verify-ca": ANY_NAME,
      "verify-full": {},
    },
  );
  if (checks === false) return false;
  return {
    ...checks,
    ...file("ca", sslrootcert === "system" ? undefined : sslrootcert),
    ...file("cert", sslcert),
    ...file("key", sslkey),
  };
}

const ANY_NAME = { checkServerIdentity: () => undefined };

function file(
  name: "ca" | "cert" | "key",
  path: string | undefined,
): ConnectionOptions {
  return path === undefined ? {} : { [name]: readFileSync(path, "utf8") };
}

/** The meaning of a parameter that has a few values. */
function choose<T>(
  parameters: Parameters,
  name: Parameter,
  byDefault: string,
  meanings: Readonly<Record<string, T>>,
): T {
  const value = parameters[name] ?? byDefault;
  if (Object.hasOwn(meanings, value)) return meanings[value] as T;
  // What is there by default is right, unless it is of the environment.
  const what = parameters[name] === undefined
    ? `PG${name.toUpperCase()}`
    : `Its ${name}`;
  throw new TypeError(
    `${what} must be one of ${Object.keys(meanings).join(", ")}, not ${
      JSON.stringify(value)
    }`,
  );
}

function readInteger(name: string, text: string, max: number): number {
  const value = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= max) return value;
  throw new TypeError(
    // Not what it is instead: without a host, a password stands where a port does.
    `Its ${name} must be an integer from 1 to ${max}`,
  );
}

function decode(text = ""): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw new TypeError("It has a % that is not followed by two digits", {
      cause,
    });
  }
}

/** A member where there is a value for it. */
function given<Name extends string>(
  name: Name,
  value: string | undefined,
): { readonly [key in Name]?: string } {
  return value === undefined || value === ""
    ? {}
    : { [name]: value } as { readonly [key in Name]: string };
}
