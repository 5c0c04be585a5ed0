/**
 * The files for deployment under `docs/examples/`, each tried as far as possible without its
 * platform.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { Deployment } from "kubernetes-models/apps/v1/Deployment";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1/PodDisruptionBudget";
import { Service } from "kubernetes-models/v1/Service";
import { parseAllDocuments } from "yaml";
import { readConfig } from "../../adapters/standalone/config.ts";
import { postgresStorage } from "../../adapters/storage/postgres/mod.ts";
import { issuedKeys } from "../../adapters/keys/issued_keys.ts";
import { startCluster } from "../support/postgres/cluster.ts";
import { sharedPostgres } from "../support/postgres/shared.ts";
import { NO_CLUSTER } from "../support/postgres/test_cluster.ts";
import { type Answer, ask, type Question } from "../contract/ask.ts";
import { readText, ROOT } from "../support/repository.ts";
import type { RunningServer } from "../support/standalone.ts";
import { atEnd } from "../support/at_end.ts";
import {
  freePort,
  startProgram,
  type Surroundings,
} from "../support/process.ts";
import { RUNTIME, testUnless } from "../support/runtime.ts";
import { newFolder } from "../support/temporary_directory.ts";
import { until } from "../support/time.ts";

const { skip: noPostgres, emptyDatabase } = await sharedPostgres();
const NOT_DENO = RUNTIME !== "deno" &&
  "the files for deployment are for Deno";

/** The folder of the repository, without a slash at its end. */
const REPOSITORY = ROOT.replace(/\/$/, "");

const KEY = "secret";

/** Adds a pet. */
function add(
  server: Pick<RunningServer, "fetch" | "base" | "key">,
  headers: Question["headers"] = {},
): Promise<Answer> {
  const body = '{"name":"Rex","categoryId":9007199254740993}';
  return ask(server, "POST", "/v1/pets", { body, headers });
}

/** A command and its settings, as in a file or page. */
interface Command {
  /** The program, and its arguments. */
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Default: the repository. */
  readonly workingDirectory?: string;
}

/** Starts a server, and waits until it answers at its port; it is ended after the test. */
async function startAt(
  t: TestContext,
  port: number,
  words: readonly string[],
  surroundings: Surroundings,
) {
  const program = startProgram(t, words, surroundings);
  const base = `http://127.0.0.1:${port}`;
  const server = { ...program, fetch, base, key: KEY };
  const isAnswered = () =>
    ask(server, "GET", "/nothing").then(() => true, () => false);
  await until("the server answers", isAnswered).catch((cause) => {
    throw new Error(server.stdout() + server.stderr(), { cause });
  });
  return server;
}

// ---- Commands that start the standalone server ----

/** By the name of the file or page. */
const COMMANDS: Readonly<Record<string, Command>> = {
  "petstore@.service": { words: unitCommand(), env: unitEnvironment() },
  "the Dockerfile": {
    words: imageCommand(),
    env: imageEnvironment(),
    workingDirectory: one(image(), /^WORKDIR (.+)$/m),
  },
  "docs/operating.md": leastCommand(),
};

/** What the files contain, and what a test replaces it with. */
function placesOf(folder: string, port: number, database?: string) {
  return {
    "/usr/local/bin/deno": process.execPath,
    "deno": process.execPath,
    "/opt/petstore": REPOSITORY,
    "/app": REPOSITORY,
    "/var/lib/petstore": folder,
    "/data": folder,
    "/deno-dir": join(folder, "deno-dir"),
    "0.0.0.0": "127.0.0.1",
    "8000": String(port),
    "%i": String(port),
    ...database !== undefined && { "127.0.0.1:5432": new URL(database).host },
  };
}

/** Replaces each path and port in a text, if it is a whole word. */
function place(text: string, places: Readonly<Record<string, string>>): string {
  const longestFirst = Object.keys(places)
    .toSorted((one, other) => other.length - one.length)
    .map((from) => from.replaceAll(".", "\\.")).join("|");
  const expression = RegExp(`(?<![\\w/-])(?:${longestFirst})(?![\\w-])`, "g");
  return text.replaceAll(expression, (from) => places[from] ?? from);
}

for (const [name, command] of Object.entries(COMMANDS)) {
  const { words, env, workingDirectory = REPOSITORY } = command;
  for (const database of ["SQLite", "PostgreSQL"]) {
    // The page names PostgreSQL's address only in a sentence.
    const isPostgres = database === "PostgreSQL";
    if (isPostgres && name.endsWith(".md")) continue;
    testUnless(NOT_DENO || (isPostgres && noPostgres))(
      `the command of ${name} serves pets of ${database}, and ends with 0`,
      async (t) => {
        const folder = newFolder(t);
        const url = isPostgres ? await emptyDatabase() : undefined;
        const port = await freePort();
        const places = placesOf(folder, port, url);
        const set = Object.entries({
          ...env,
          ...url !== undefined && { DATABASE_URL: url },
          PETSTORE_API_KEYS: KEY,
          PORT: "8000",
        }).map(([name, value]) => [name, place(value, places)] as const);
        const placed = words.map((word) => place(word, places));
        const server = await startAt(t, port, placed, {
          cwd: place(workingDirectory, places),
          env: Object.fromEntries(set),
        });
        assert.equal((await add(server)).status, 201);
        for (const path of ["/livez", "/readyz", "/v1/pets/1", "/docs"]) {
          assert.equal((await ask(server, "GET", path)).status, 200, path);
        }
        assert.equal(await server.end(), 0);
      },
    );
  }

  test(`the command of ${name} names the files, and the variables of deno.json alone`, () => {
    const { permissions } = JSON.parse(readText("deno.json"));
    const line = words.join(" ");
    const variables = one(line, /--allow-env=(\S+)/).split(",");
    const judge = name === "the Dockerfile" ? ["PETSTORE_KEY"] : [];
    assert.deepEqual(variables, [...permissions.default.env, ...judge]);
    assert.match(line, /^(?!.*-A).* --allow-read=\S.* --allow-write=\S/);
  });
}

// ---- systemd ----

test("systemd, Docker and Kubernetes give a server 5 s more to end than it takes", () => {
  const compose = readText("docs/examples/container/compose.yaml");
  const inImage = imageEnvironment();
  const cases = [
    [
      readText("docs/examples/systemd/petstore@.service"),
      /^TimeoutStopSec=(\d+)$/m,
      unitEnvironment(),
    ],
    [compose, /^x-server:[^]*?\n {2}stop_grace_period: (\d+)s$/m, inImage],
    [
      readText("docs/examples/kubernetes.yaml"),
      /^ +terminationGracePeriodSeconds: (\d+)$/m,
      inImage,
    ],
  ] as const;
  for (const [text, seconds, env] of cases) {
    const { shutdownDelay, shutdownTimeout } = readConfig({
      SHUTDOWN_DELAY: env.SHUTDOWN_DELAY,
    });
    const time = shutdownDelay + shutdownTimeout + 5000;
    assert.ok(1000 * Number(one(text, seconds)) >= time, `${seconds}`);
  }
  assert.equal(inImage.SHUTDOWN_DELAY, "5");
});

test("the lines of docs/examples/kubernetes.yaml are what Kubernetes takes", () => {
  const documents = parseAllDocuments(readText("docs/examples/kubernetes.yaml"))
    .map((document) => document.toJS());
  const kinds = { Deployment, PodDisruptionBudget, Service };
  assert.deepEqual(
    documents.map(({ kind }) => kind).sort(),
    Object.keys(kinds),
  );
  for (const { kind, apiVersion, ...rest } of documents) {
    const Model = kinds[kind as keyof typeof kinds];
    const model = new Model(rest);
    assert.equal(model.apiVersion, apiVersion, kind);
    model.validate();
  }
});

// ---- Containers ----

test("the image is built of the files that are sent for it, on the Deno of the tests", () => {
  const folder = "docs/examples/container";
  const [stage = ""] = dockerfile().split(/^FROM .*distroless/m);
  const copied = Array.from(
    stage.matchAll(/^COPY (.+) \S+$/gm),
    ([, sources = ""]) => sources.split(" "),
  ).flat();
  const [all, ...sent] = readText(`${folder}/Dockerfile.dockerignore`)
    .split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  assert.equal(all, "*");
  assert.deepEqual(sent.map((line) => line.replace("!", "")), copied);
  const compose = readText(`${folder}/compose.yaml`);
  const context = one(compose, /^ *context: (\S+)$/m);
  assert.equal(join(ROOT, folder, context, "."), join(ROOT, "."));
  assert.equal(
    one(dockerfile(), /^ARG DENO_VERSION=(\S+)$/m),
    one(readText(".ci/run"), /^deno_version=(\S+)$/m),
  );
});

// ---- Deno Deploy ----

/** Starts the entry for Deno Deploy. */
async function startDenoDeploy(t: TestContext, DATABASE_URL: string) {
  const port = await freePort();
  const entry = "docs/examples/deno_deploy.ts";
  return await startAt(t, port, [process.execPath, "run", "-A", entry], {
    cwd: ROOT,
    env: {
      DENO_SERVE_ADDRESS: `tcp:127.0.0.1:${port}`,
      PETSTORE_API_KEYS: `${KEY}, another`,
      DATABASE_URL,
    },
  });
}

testUnless(NOT_DENO || noPostgres)(
  "the entry for Deno Deploy takes fixed and issued keys, and ends with 0 on SIGINT",
  async (t) => {
    const url = await emptyDatabase();
    const server = await startDenoDeploy(t, url);
    const storage = await postgresStorage(url);
    const { key } = await issuedKeys(storage.apiKeys).issue("a test");
    await storage.close();
    for (const each of [KEY, "another", key, "guess"]) {
      const { status } = await add({ ...server, key: each });
      assert.equal(status, each === "guess" ? 401 : 201, each);
    }
    const fields = { "idempotency-key": "a" };
    await add(server, fields);
    const { headers } = await add(server, fields);
    assert.equal(headers.get("idempotent-replayed"), "true");
    assert.equal((await ask(server, "GET", "/v1/pets/4")).status, 200);
    assert.equal(await server.end("SIGINT"), 0);
  },
);

testUnless(NOT_DENO || NO_CLUSTER)(
  "the entry for Deno Deploy answers without its database, and uses it once there",
  async (t) => {
    const port = await freePort();
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
    const server = await startDenoDeploy(t, url);
    assert.equal((await ask(server, "GET", "/nothing")).status, 404);
    const refused = await add(server);
    assert.equal(refused.status, 503);
    assert.equal(refused.headers.get("retry-after"), "1");
    const cluster = await startCluster({ port });
    atEnd(t, () => cluster.close());
    assert.equal((await add(server)).status, 201);
    assert.equal(await server.end("SIGINT"), 0);
  },
);

// ---- Reading the files for deployment ----

/** The words of `ExecStart` of the unit. */
function unitCommand(): readonly string[] {
  const unit = readText("docs/examples/systemd/petstore@.service")
    .replaceAll(/^#.*\n/gm, "")
    .replaceAll(/\\\n\s*/g, "");
  return one(unit, /^ExecStart=(.+)$/m).split(/\s+/);
}

/** The variables of `petstore.env`. */
function unitEnvironment(): Readonly<Record<string, string>> {
  const lines = readText("docs/examples/systemd/petstore.env").split("\n");
  return settings(lines.filter((line) => !/^(?:#|$)/.test(line)));
}

/** The command with the fewest permissions, whose first word is a setting. */
function leastCommand(): Command {
  const page = readText("docs/operating.md").replaceAll(/\\\n\s*/g, "");
  const command = one(page, /\n## Permissions\n[^]*?```sh\n(.*)\n```/);
  const [setting = "", ...words] = command.split(" ");
  return { words, env: settings([setting]) };
}

/** The words of `ENTRYPOINT` and `CMD`. */
function imageCommand(): readonly string[] {
  const lines = dockerfile();
  return [
    ...JSON.parse(one(lines, /^ENTRYPOINT (\[.+\])$/m)),
    ...JSON.parse(one(lines, /^CMD (\[.+\])$/m)),
  ];
}

/** The variables that the image's `ENV` sets. */
function imageEnvironment(): Readonly<Record<string, string>> {
  return settings(one(image(), /^ENV (.+)$/m).split(" "));
}

/** The lines of the `Dockerfile` that make the image itself. */
function image(): string {
  const [, image = ""] = dockerfile().split(/^FROM .*distroless.*$/m);
  return image;
}

/** Reads words `NAME=VALUE`. */
function settings(words: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    words.map((word) => word.split(/=(.*)/s, 2) as [string, string]),
  );
}

/** The `Dockerfile` with one line for each instruction. */
function dockerfile(): string {
  return readText("docs/examples/container/Dockerfile").replaceAll(
    /\\\n\s*/g,
    "",
  );
}

/** Returns the match of an expression's only group. */
function one(text: string, expression: RegExp): string {
  const found = expression.exec(text)?.[1];
  if (found === undefined) throw new Error(`There is no ${expression}`);
  return found;
}
