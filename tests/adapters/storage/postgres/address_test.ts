import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  describeHosts,
  parsePostgresUrl,
  type PostgresAddress,
} from "../../../../adapters/storage/postgres/address.ts";
import { temporaryDirectory } from "../../../support/temporary_directory.ts";

const DEFAULTS = {
  hosts: [{ host: "localhost" }],
  driver: {
    ssl: false,
    enableChannelBinding: false,
    requireChannelBinding: false,
    application_name: "petstore",
    max: 10,
  },
  writable: false,
  pgbouncer: false,
  cautions: [],
};

/** The parts of an address that differ from the defaults. */
type Difference = Partial<Omit<PostgresAddress, "driver">> & {
  readonly driver?: Partial<PostgresAddress["driver"]>;
};

const addresses: Readonly<Record<string, Difference>> = {
  "postgres://localhost": {},
  "postgresql://localhost": {},
  "postgres://": { hosts: [{}] },
  "postgres://localhost:5433/pets": {
    hosts: [{ host: "localhost", port: 5433 }],
    driver: { database: "pets" },
  },
  "postgres://ann:pa:ss%40%2F%25@localhost/p%20q": {
    driver: { user: "ann", password: "pa:ss@/%", database: "p q" },
  },
  "postgres://[::1]:5433": { hosts: [{ host: "::1", port: 5433 }] },
  "postgres://%2Frun%2Fpostgresql/pets": {
    hosts: [{ host: "/run/postgresql" }],
    driver: { database: "pets" },
  },
  "postgres:///pets?host=/run/postgresql&port=5433": {
    hosts: [{ host: "/run/postgresql", port: 5433 }],
    driver: { database: "pets" },
  },
  "postgres://a:1,b:2/pets": {
    hosts: [{ host: "a", port: 1 }, { host: "b", port: 2 }],
    driver: { database: "pets" },
    writable: true,
  },
  "postgres:///?host=a,b&port=1,2": {
    hosts: [{ host: "a", port: 1 }, { host: "b", port: 2 }],
    writable: true,
  },
  "postgres://a,b/?port=1,": {
    hosts: [{ host: "a", port: 1 }, { host: "b" }],
    writable: true,
  },
  "postgres://a,b/?port=5&target_session_attrs=any": {
    hosts: [{ host: "a", port: 5 }, { host: "b", port: 5 }],
    writable: false,
  },
  "postgres://localhost?target_session_attrs=primary": { writable: true },
  "postgres://localhost?sslmode=require&channel_binding=prefer": {
    driver: { ssl: { rejectUnauthorized: false }, enableChannelBinding: true },
  },
  "postgres://localhost?sslmode=verify-full": { driver: { ssl: {} } },
  "postgres://localhost?sslmode=verify-full&sslrootcert=system": {
    driver: { ssl: {} },
  },
  "postgres://localhost?channel_binding=require": {
    driver: { enableChannelBinding: true, requireChannelBinding: true },
  },
  "postgres://localhost?pgbouncer=true&connection_limit=1000": {
    pgbouncer: true,
    driver: { max: 1000 },
  },
  "postgres://localhost?application_name=a%20b&options=-c%20search_path%3Dx": {
    driver: { application_name: "a b", options: "-c search_path=x" },
  },
  "postgres://localhost?user=ann&password=a+b%3Dc=d&dbname=pets": {
    driver: { user: "ann", password: "a+b=c=d", database: "pets" },
  },
};

/** A copy without the members that are undefined. */
const structure = (value: unknown) => JSON.parse(JSON.stringify(value));

for (const [url, expected] of Object.entries(addresses)) {
  test(`parsePostgresUrl reads ${url}`, () => {
    const driver = { ...DEFAULTS.driver, ...expected.driver };
    assert.deepEqual(structure(parsePostgresUrl(url, {})), {
      ...DEFAULTS,
      ...expected,
      driver,
    });
  });
}

/** Addresses, or parameters of one. */
const wrong: Readonly<Record<string, RegExp>> = {
  "": /postgres:\/\/USER/,
  "mysql://localhost": /postgres:\/\/USER/,
  "postgres://ann:secret@x@localhost": /percent-encoded/,
  "postgres://ann:secret@localhost#x": /percent-encoded/,
  "postgres://ann:pa?secret@localhost/pets": /percent-encoded/,
  "postgres://ann:pa?host=secret@localhost/pets": /percent-encoded/,
  "postgres://ann:secret%@localhost": /a % must be followed by two/,
  "postgres://ann:secret@a:b":
    /: each host must be HOST or HOST:PORT, and an IPv6 address in \[\]$/,
  "postgres:///pets?host=::1": /IPv6 address in \[\]$/,
  "postgres://ann:secret@localhost:0": /port .* from 1 to 65535$/,
  "postgres://ann:123secret": /HOST:PORT/,
  "postgres://a,b,c/pets?port=1,2": /one port, or one for each host$/,
  "?sslmod=require": /parameter sslmod is unknown; use .*sslmode/,
  "?sslmode=prefer":
    /sslmode must be one of disable, require, verify-ca, verify-full, not "prefer"/,
  "?target_session_attrs=standby": /target_session_attrs must be/,
  "?sslmode": /sslmode must be .*, not ""/,
  "?pgbouncer=1": /pgbouncer must be/,
  "?channel_binding=1":
    /channel_binding must be one of disable, prefer, require, not "1"/,
  "?connection_limit=0": /connection_limit/,
  "?connection_limit=1001": /connection_limit/,
  "?secret": /: a parameter is unknown; use host, port, /,
  "?password=a&secret=b": /: a parameter is unknown; use host, port, /,
  "?sslrootcert=/none": /: sslrootcert needs an sslmode that encrypts/,
  "?sslcert=/none&sslmode=disable": /: sslcert needs an sslmode that encrypts/,
  "?sslmode=require&sslrootcert=/none":
    /: the file of sslrootcert cannot be read: ENOENT/,
  "?sslmode=require&sslcert=/none":
    /: the file of sslcert cannot be read: ENOENT/,
  "?sslmode=require&sslkey=/none":
    /: the file of sslkey cannot be read: ENOENT/,
  "?sslmode=verify-ca": /: sslmode=verify-ca needs sslrootcert, /,
  "?sslmode=verify-ca&sslrootcert=system": /, or use sslmode=verify-full$/,
  "?sslmode=require&sslrootcert=system":
    /: sslmode=require needs sslrootcert, /,
  "?sslmode=require&sslrootcert=": /: sslmode=require needs sslrootcert, /,
  "?__proto__=x": /parameter __proto__/,
  "?sslmode=toString": /sslmode must be/,
};

for (const [text, message] of Object.entries(wrong)) {
  const url = text.replace(/^\?/, "postgres://ann:secret@localhost?");
  test(`parsePostgresUrl refuses ${url || "an empty address"}, without the password`, () => {
    assert.throws(
      () => parsePostgresUrl(url, {}),
      (error) => {
        assert.ok(error instanceof TypeError);
        assert.match(error.message, message);
        assert.ok(!error.message.includes("secret"), error.message);
        return true;
      },
    );
  });
}

test("parsePostgresUrl takes PGSSLMODE if the address does not mention encryption", () => {
  const tls = (url: string, PGSSLMODE: string) =>
    structure(parsePostgresUrl(url, { PGSSLMODE }).driver.ssl);
  assert.deepEqual(tls("postgres://a", "verify-full"), {});
  assert.equal(tls("postgres://a?sslmode=disable", "verify-full"), false);
  const message = /: PGSSLMODE must be one of .* not "prefer"/;
  assert.throws(() => tls("postgres://a", "prefer"), message);
});

test("parsePostgresUrl reads the files that TLS needs", () => {
  const directory = temporaryDirectory();
  const path = (name: string) => join(directory, name);
  for (const name of ["ca", "cert", "key"]) writeFileSync(path(name), name);
  const { driver: { ssl } } = parsePostgresUrl(
    `postgres://localhost?sslmode=verify-full&sslrootcert=${
      path("ca")
    }&sslcert=${path("cert")}&sslkey=${path("key")}`,
  );
  assert.deepEqual(ssl, { ca: "ca", cert: "cert", key: "key" });
  // As in libpq: a root certificate makes `require` check the chain, though not the name.
  for (const mode of ["require", "verify-ca"]) {
    const { driver: { ssl } } = parsePostgresUrl(
      `postgres://localhost?sslmode=${mode}&sslrootcert=${path("ca")}`,
    );
    assert.ok(ssl !== false && ssl.rejectUnauthorized === undefined, mode);
    assert.equal(
      ssl.checkServerIdentity?.("any", {} as never),
      undefined,
      mode,
    );
  }
});

test("describeHosts names every server, and nothing else of the address", () => {
  assert.equal(
    describeHosts(
      parsePostgresUrl("postgres://ann:secret@a:1,[::1]:2,c,/pets").hosts,
    ),
    "a:1, ::1:2, c, localhost",
  );
});
