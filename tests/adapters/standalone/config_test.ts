import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readConfig, SETTINGS } from "../../../adapters/standalone/config.ts";
import { newFolder } from "../../support/temporary_directory.ts";

test("readConfig answers the defaults that SETTINGS shows, if nothing is set", () => {
  const shown = SETTINGS.matchAll(/^ {2}(\w+) +(?! |none;|same )([^;]+);/gm);
  const defaults = Array.from(shown, ([, name, value]) => [name, value]);
  assert.equal(defaults.length, 10);
  const config = readConfig({});
  assert.deepEqual(config, readConfig(Object.fromEntries(defaults)));
  const { fixedKeys, fixedKeysFrom, cors, rateLimit, admin, proxies } = config;
  const none = [fixedKeys, fixedKeysFrom, cors, rateLimit, admin, proxies];
  assert.deepEqual(none, [...Array(5).fill(undefined), 0]);
});

test("readConfig reads every variable", () => {
  const config = readConfig({
    DATABASE_URL: "memory:",
    PETSTORE_API_KEYS: "one, two",
    BASE_URL: "https://api.example.com/pets/v1",
    CORS_ORIGINS: "https://app.example.com, http://localhost:3000",
    RATE_LIMIT: "999999999/99999s",
    TRUST_PROXY: "100",
    MAX_BODY_BYTES: "100000000",
    IDEMPOTENCY_RETENTION: "31536000",
    PETSTORE_HOST: "0.0.0.0",
    PORT: "65535",
    REQUEST_LOG: "off",
    METRICS: "on",
    ADMIN_PORT: "65535",
    ADMIN_HOST: "::1",
    SHUTDOWN_DELAY: "3600",
    SHUTDOWN_TIMEOUT: "3600",
  });
  assert.deepEqual(config, {
    database: { kind: "memory" },
    fixedKeys: ["one", "two"],
    fixedKeysFrom: "PETSTORE_API_KEYS",
    baseUrl: "https://api.example.com/pets/v1",
    cors: { origins: ["https://app.example.com", "http://localhost:3000"] },
    rateLimit: { requests: 999_999_999, seconds: 99_999 },
    proxies: 100,
    maxBodyBytes: 100_000_000,
    idempotencyRetention: 31_536_000_000,
    host: "0.0.0.0",
    port: 65535,
    requestLog: false,
    metrics: true,
    admin: { hostname: "::1", port: 65535 },
    shutdownDelay: 3_600_000,
    shutdownTimeout: 3_600_000,
    notes: [],
  });
  assert.deepEqual(readConfig({ CORS_ORIGINS: "*" }).cors, { origins: "*" });
});

test("readConfig ignores, and notes, the ADMIN_PORT of a Kubernetes Service", () => {
  for (const protocol of ["tcp", "udp", "sctp"]) {
    const ADMIN_PORT = `${protocol}://10.96.0.7:9090`;
    const { admin, notes } = readConfig({ ADMIN_PORT });
    assert.equal(admin, undefined, protocol);
    assert.match(
      notes.join(),
      /^ADMIN_PORT is ignored: .* enableServiceLinks/,
      protocol,
    );
  }
  assert.deepEqual(readConfig({ ADMIN_PORT: "9090" }).notes, []);
});

test("readConfig reads the variables of SETTINGS, in their order", () => {
  const read = new Set<string>();
  const get = (_: object, name: string) => void read.add(name);
  readConfig(new Proxy({}, { get }));
  assert.deepEqual([...read], SETTINGS.match(/(?<=^ {2})[A-Z_]+/gm));
});

test("readConfig reads secrets from files too, without one newline at the end", (t) => {
  const folder = newFolder(t);
  const write = (name: string, text: string) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const keys = ["one,two", "one,two\n", "one,two\r\n"];
  for (const text of keys) {
    const { database, fixedKeys, fixedKeysFrom } = readConfig({
      DATABASE_URL_FILE: write("url", "\ufeffmemory:\n"), // as Windows editors write it
      PETSTORE_API_KEYS_FILE: write("keys", text),
    });
    assert.deepEqual(database, { kind: "memory" }, text);
    assert.deepEqual(fixedKeys, ["one", "two"], text);
    assert.equal(fixedKeysFrom, "PETSTORE_API_KEYS_FILE", text);
  }
  const DATABASE_URL_FILE = write("hunter2", "mysql://user:hunter2@db/pets");
  assertRefused([
    [{ DATABASE_URL_FILE }, /^Cannot read DATABASE_URL_FILE: it must be /],
    [{ DATABASE_URL_FILE: write("empty", "\n") }, /: the file is empty$/],
    [
      { DATABASE_URL_FILE: join(folder, "none") },
      /^Cannot read DATABASE_URL_FILE: there is no such file$/,
    ],
    // The address itself, and a password that looks like a scheme.
    [
      { DATABASE_URL_FILE: "postgres://user:hunter2@db/pets" },
      /^Cannot read DATABASE_URL_FILE: there is no such file$/,
    ],
    [{ PETSTORE_API_KEYS_FILE: "hunter2" }, /_FILE: there is no such file$/],
    [{ DATABASE_URL_FILE: folder }, /_FILE: it is a folder$/],
    [{ DATABASE_URL_FILE: "hunter2".repeat(999) }, /_FILE: .*ENAMETOOLONG/],
    [{ DATABASE_URL_FILE: write("scheme", "hunter2:a") }, /, or memory:$/],
    [
      { DATABASE_URL_FILE, DATABASE_URL: "memory:" },
      /DATABASE_URL is also set$/,
    ],
    [
      { DATABASE_URL_FILE: write("two", "sqlite:a\n\n") },
      /: remove the spaces/,
    ],
    [
      { PETSTORE_API_KEYS_FILE: write("keys", "hunter2\ntwo\n") },
      /KEYS_FILE: separate keys with commas, not with spaces or line ends$/,
    ],
  ]);
});

/** Asserts that each is refused with these words, and without a password or a key. */
function assertRefused(
  cases: readonly (readonly [Parameters<typeof readConfig>[0], RegExp])[],
): void {
  for (const [environment, words] of cases) {
    assert.throws(() => readConfig(environment), ({ message }: Error) => {
      assert.match(message, words, `${words}`);
      return !message.includes("hunter2");
    }, `${words}`);
  }
}

test("readConfig reads sqlite: and a path, as it is written", () => {
  const files = {
    "sqlite:pets.db": "pets.db",
    "sqlite:/var/lib/pets.db": "/var/lib/pets.db",
    "sqlite:///var/lib/pets.db": "/var/lib/pets.db",
    "sqlite:a b%20c.db": "a b%20c.db",
  };
  for (const [url, path] of Object.entries(files)) {
    const { database } = readConfig({ DATABASE_URL: url });
    assert.deepEqual(database, { kind: "sqlite", path }, url);
  }
});

const wrong: Readonly<Record<string, readonly string[]>> = {
  DATABASE_URL: ["", "petstore.db", "sqlite:", "sqlite://petstore.db"]
    .concat(
      "file:sqlite:a",
      "sqlite::memory:",
      "sqlite:file:pets.db",
      "postgres://h/a\n\n",
    ),
  PETSTORE_API_KEYS: ["", "one,,two", "two words"],
  BASE_URL: ["v1"],
  CORS_ORIGINS: ["", "https://app.example.com,", "*, https://app.example.com"],
  RATE_LIMIT: ["", "100", "0/10s", "100/0s", "100/10"]
    .concat("1e2/10s", "100/100000s", "1000000000/10s"),
  TRUST_PROXY: ["0", "101", "true", "127.0.0.1"],
  MAX_BODY_BYTES: ["0", "100000001", "64k"],
  IDEMPOTENCY_RETENTION: ["31536001", "24h"],
  PORT: ["65536", "-1", "1e3"],
  REQUEST_LOG: ["false"],
  METRICS: ["true"],
  ADMIN_PORT: ["65536", "*"],
  ADMIN_HOST: ["::1"], // without ADMIN_PORT
  SHUTDOWN_DELAY: ["5s", "-1"],
  SHUTDOWN_TIMEOUT: ["10s", "3601"],
};

for (const [name, values] of Object.entries(wrong)) {
  test(`readConfig refuses a wrong ${name} and names the variable`, () => {
    for (const value of values) {
      assert.throws(
        () => readConfig({ [name]: value }),
        (error) =>
          error instanceof Error &&
          error.message.startsWith(`Cannot read ${name}: `),
        value,
      );
    }
  });
}

test("readConfig says what is wrong, and shows neither a password nor a key", () => {
  assertRefused([
    [{ PORT: "" }, /^Cannot read PORT: it is empty: set it, or unset it$/],
    [
      { DATABASE_URL: "nonsense" },
      /: it must be sqlite:PATH \(such as sqlite:petstore\.db\) or postgres:\/\/USER:PASSWORD@HOST:PORT\/DATABASE, or memory:$/,
    ],
    [{ DATABASE_URL: ":memory:" }, /\/DATABASE, or memory:$/],
    [{ DATABASE_URL: "sqlite://x.db" }, /; after sqlite: put a path without /],
    [{ DATABASE_URL: "mysql://user:hunter2@db/pets" }, /, not mysql:…$/],
    [{ DATABASE_URL: "sqlite:a " }, /: remove the spaces or line ends before /],
    [{ DATABASE_URL: "\ufeffsqlite:a" }, /: remove the spaces or line ends /],
    [{ PETSTORE_API_KEYS: "hunter2 hunter2" }, /PETSTORE_API_KEYS: separate /],
    [{ METRICS: "yes" }, /it must be on or off, not "yes"$/],
    [{ BASE_URL: "https://me:hunter2@h/v1" }, /BASE_URL: it must be a path/],
    [{ CORS_ORIGINS: "https://me:hunter2@h" }, /CORS_ORIGINS: it must be "\*"/],
    [
      { DATABASE_URL: "postgres://u:hunter2@h/d?sslmode=maybe" },
      /DATABASE_URL: sslmode must be one of/,
    ],
    [{ RATE_LIMIT: "9" }, /requests and seconds, such as 100\/10s, not "9"$/],
  ]);
});
