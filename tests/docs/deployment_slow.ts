/** The files for deployment under `docs/examples/`, each tried as far as it can be without its platform. */
import assert from "node:assert/strict";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { readConfig, VARIABLES } from "../../adapters/standalone/config.ts";
import { postgresStorage } from "../../adapters/postgres/mod.ts";
import { issuedKeys } from "../../core/keys/issued_keys.ts";
import {
  freePort,
  inNewFolder,
  RUNTIME,
} from "../adapters/standalone/program.ts";
import {
  dockerfile,
  imageCommand,
  imageEnvironment,
  imageHealthCheck,
  one,
  read,
  ROOT,
  unitCommand,
  unitEnvironment,
} from "../support/deployment/files.ts";
import { exitCode, withServer } from "../support/deployment/server.ts";
import { skipping } from "../support/skipping.ts";
import { findBinaries } from "../support/postgres/binaries.ts";
import { startCluster } from "../support/postgres/cluster.ts";
import { sharedPostgres } from "../support/postgres/shared.ts";

const { skip: noPostgres, newDatabase } = await sharedPostgres();
const { missing: noCluster } = await findBinaries();
const NOT_DENO = skipping(
  RUNTIME !== "deno" && "the files for deployment are for Deno",
);

const KEY = "secret";

/** The status and the headers of a create. */
async function create(origin: string, key = KEY): Promise<Response> {
  const response = await fetch(`${origin}/v1/pets`, {
    method: "POST",
    headers: {
      "authorization": `Bearer ${key}`,
      "content-type": "application/json",
    },
    body: '{"name":"Rex","categoryId":9007199254740993}',
    // Less than the storage would wait for a database that is not there.
    signal: AbortSignal.timeout(8000),
  });
  await response.body?.cancel();
  return response;
}

async function statusOf(url: string): Promise<number> {
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${KEY}` },
  });
  await response.body?.cancel();
  return response.status;
}

// ---- Commands that start the standalone server ----

/** What stands in a file, and what a test puts there. */
type Places = (
  here: { readonly folder: string; readonly port: number },
) => Readonly<Record<string, string>>;

const COMMANDS: readonly {
  readonly name: string;
  readonly words: () => readonly string[];
  readonly env: () => Readonly<Record<string, string>>;
  readonly places: Places;
}[] = [{
  name: "petstore.service",
  words: unitCommand,
  env: unitEnvironment,
  places: ({ folder, port }) => ({
    "/usr/local/bin/deno": process.execPath,
    "/opt/petstore": ROOT,
    "/var/lib/petstore": folder,
    "8000": String(port),
  }),
}, {
  name: "the Dockerfile",
  words: imageCommand,
  env: imageEnvironment,
  places: ({ folder, port }) => ({
    "deno": process.execPath,
    "/app": ROOT,
    "/data": folder,
    "/deno-dir": join(folder, "deno-dir"),
    "0.0.0.0": "127.0.0.1",
    "8000": String(port),
  }),
}];

/** A text with each path and port replaced, where it stands as a whole. */
function place(text: string, places: Readonly<Record<string, string>>): string {
  return Object.entries(places).reduce(
    (text, [from, to]) =>
      text.replaceAll(
        new RegExp(`(?<![\\w/-])${from.replaceAll(".", "\\.")}(?![\\w-])`, "g"),
        () => to,
      ),
    text,
  );
}

for (const { name, words, env, places } of COMMANDS) {
  for (const database of ["SQLite", "PostgreSQL"] as const) {
    const skip = NOT_DENO || (database === "PostgreSQL" && noPostgres);

    test(
      `the command of ${name} serves animals of ${database}, and ends with 0 on SIGTERM`,
      { skip },
      async () => {
        const url = database === "PostgreSQL" ? await newDatabase() : undefined;
        await inNewFolder(async (folder) => {
          const port = await freePort();
          const here = {
            ...places({ folder, port }),
            ...url === undefined ? {} : { "127.0.0.1:5432": new URL(url).host },
          };
          const set = Object.entries(env()).map(([name, value]) =>
            [name, place(value, here)] as const
          );
          const command = {
            words: words().map((word) => place(word, here)),
            cwd: ROOT,
            env: {
              ...Object.fromEntries(set),
              ...url === undefined ? {} : { DATABASE_URL: url },
              PETSTORE_API_KEYS: KEY,
            },
          };
          const origin = `http://127.0.0.1:${port}`;
          await withServer(command, `${origin}/livez`, async (server) => {
            assert.equal(await statusOf(`${origin}/readyz`), 200);
            assert.equal((await create(origin)).status, 201);
            assert.equal(await statusOf(`${origin}/v1/pets/1`), 200);
            assert.equal(await statusOf(`${origin}/docs`), 200);
            assert.equal(await server.stop("SIGTERM"), 0);
          });
        });
      },
    );
  }

  test(`the command of ${name} may read the variables that deno.json lets the start read, and no others`, () => {
    const { permissions } = JSON.parse(read("deno.json"));
    const expected = [...VARIABLES, "PG*"];
    const variables = one(words().join(" "), /--allow-env=(\S+)/).split(",");
    assert.deepEqual(variables, expected);
    assert.deepEqual(permissions.default.env, expected);
  });
}

// ---- systemd ----

test("systemd and Docker give a server longer to end than it gives its requests", () => {
  const { shutdownTimeout } = readConfig({});
  for (
    const seconds of [
      one(
        read("docs/examples/systemd/petstore.service"),
        /^TimeoutStopSec=(\d+)$/m,
      ),
      one(
        read("docs/examples/container/compose.yaml"),
        /^x-server:[^]*?\n {2}stop_grace_period: (\d+)s$/m,
      ),
    ]
  ) {
    assert.ok(1000 * Number(seconds) > shutdownTimeout, seconds);
  }
});

// ---- Containers ----

test("the health check of the image tells a server from none", {
  skip: NOT_DENO,
}, async () => {
  await inNewFolder(async (folder) => {
    const port = await freePort();
    const healthCheck = {
      words: imageHealthCheck().map((word) =>
        place(word, { "deno": process.execPath, "8000": String(port) })
      ),
      cwd: folder,
      env: {},
    };
    const command = {
      words: [
        process.execPath,
        ..."run -A adapters/standalone/main.ts start --port".split(" "),
        String(port),
      ],
      cwd: ROOT,
      env: { DATABASE_URL: "memory:", PETSTORE_API_KEYS: KEY },
    };
    await withServer(command, `http://127.0.0.1:${port}/livez`, async () => {
      assert.equal(await exitCode(healthCheck), 0);
    });
    assert.equal(await exitCode(healthCheck), 1);
  });
});

test("the image is built of the files that are sent for it, on the Deno that the tests run on", () => {
  const [stage = ""] = dockerfile().split(/^FROM .*distroless/m);
  const copied = Array.from(
    stage.matchAll(/^COPY (.+) \S+$/gm),
    ([, sources = ""]) => sources.split(" "),
  ).flat();
  const [all, ...sent] = read("docs/examples/container/Dockerfile.dockerignore")
    .split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  assert.equal(all, "*");
  assert.deepEqual(sent.map((line) => line.replace("!", "")), copied);
  assert.equal(
    one(dockerfile(), /^ARG DENO_VERSION=(\S+)$/m),
    one(read(".ci/run"), /^deno_version=(\S+)$/m),
  );
});

// ---- Deno Deploy ----

/** Runs the entry for Deno Deploy; `work` is given its origin. */
async function withDenoDeploy(
  env: Readonly<Record<string, string>>,
  work: (origin: string) => Promise<void>,
): Promise<void> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const command = {
    words: [process.execPath, "run", "-A", "docs/examples/deno_deploy.ts"],
    cwd: ROOT,
    env: {
      DENO_SERVE_ADDRESS: `tcp:127.0.0.1:${port}`,
      PETSTORE_API_KEYS: `${KEY}, another`,
      ...env,
    },
  };
  await withServer(command, `${origin}/v1/openapi.json`, async (server) => {
    await work(origin);
    assert.equal(await server.stop("SIGINT"), 0);
  });
}

const noDeploy = { skip: NOT_DENO || noPostgres };
const ownCluster = { skip: NOT_DENO || noCluster };

test(
  "the entry for Deno Deploy takes fixed and issued keys, and ends with 0 on SIGINT",
  noDeploy,
  async () => {
    const url = await newDatabase();
    await withDenoDeploy({ DATABASE_URL: url }, async (origin) => {
      const storage = await postgresStorage(url);
      const { key } = await issuedKeys(storage.apiKeys).issue("a test");
      await storage.close();
      for (const good of [KEY, "another", key]) {
        assert.equal((await create(origin, good)).status, 201);
      }
      assert.equal((await create(origin, "guess")).status, 401);
      assert.equal(await statusOf(`${origin}/v1/pets/3`), 200);
    });
  },
);

test(
  "the entry for Deno Deploy answers without its database, and uses it once it is there",
  ownCluster,
  async () => {
    const port = await freePort();
    const env = {
      DATABASE_URL: `postgres://postgres@127.0.0.1:${port}/postgres`,
    };
    await withDenoDeploy(env, async (origin) => {
      assert.equal(await statusOf(`${origin}/nothing`), 404);
      const refused = await create(origin);
      assert.equal(refused.status, 503);
      assert.equal(refused.headers.get("retry-after"), "1");
      const cluster = await startCluster({ port });
      try {
        assert.equal((await create(origin)).status, 201);
      } finally {
        await cluster.close();
      }
    });
  },
);
