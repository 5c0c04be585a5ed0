/**
 * The image of `docs/examples/container/Dockerfile`, built by Buildah and run by runc. Its base is not
 * that of Docker Hub: it has Deno and the libraries of this machine.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chownSync, copyFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import process from "node:process";
import type { TestContext } from "node:test";
import { ask } from "../contract/ask.ts";
import { atEnd } from "../support/at_end.ts";
import { freePort, runWell, startProgram } from "../support/process.ts";
import { pathOf, readText, ROOT } from "../support/repository.ts";
import { missing, RUNTIME, skipping, testUnless } from "../support/runtime.ts";
import {
  newFolder,
  temporaryDirectory,
} from "../support/temporary_directory.ts";
import { until } from "../support/time.ts";

const skip = (RUNTIME !== "deno" && "the image is for Deno") ||
  missing("buildah") || missing("runc") || skipping(
    spawnSync("unshare", ["--mount", "true"]).status !== 0 &&
      "only root on Linux can start a container",
  );
const inContainer = { test: testUnless(skip) };

const DOCKERFILE = "docs/examples/container/Dockerfile";
const REX =
  '{"id":1,"name":"Rex","categoryId":9007199254740993,"status":"available"}';

const folder = temporaryDirectory();
const BUILDAH =
  `buildah --storage-driver vfs --root ${folder}/images --runroot ${folder}/run`
    .split(" ");
const RUNC = ["runc", "--root", join(folder, "runc")];

// ---- Building ----

const image = skip === false ? await buildImage() : undefined;

async function buildImage() {
  await buildBase();
  const file = pathOf(DOCKERFILE);
  const sent = ["--ignorefile", `${file}.dockerignore`];
  await build("--tag", "petstore", "--file", file, ...sent, ROOT);
  const container = await runWell([...BUILDAH, "from", "petstore"]);
  const root = await runWell([...BUILDAH, "mount", container.trim()]);
  const inspect = [...BUILDAH, "inspect", "--type", "image", "petstore"];
  const { Docker } = JSON.parse(await runWell(inspect));
  return { ...Docker.config, root: root.trim() };
}

/** Builds one image for both names that the `Dockerfile` begins with. */
async function buildBase(): Promise<void> {
  const libraries = (await runWell(["ldd", `/proc/${process.pid}/exe`]))
    .match(/\/\S+(?= \()/g) ?? [];
  // For a mirror of npm that only this machine trusts.
  const certificates = "/etc/ssl/certs/ca-certificates.crt";
  const lines = [
    "FROM scratch",
    `COPY ${process.execPath} /bin/deno`,
    ...[...libraries, certificates].map((path) => `COPY ${path} ${path}`),
    `ENV DENO_CERT=${certificates}`,
  ];
  const file = join(folder, "Dockerfile");
  writeFileSync(file, lines.join("\n"));
  const version = /^ARG DENO_VERSION=(\S+)$/m.exec(readText(DOCKERFILE))?.[1];
  const tags = [version, `distroless-${version}`]
    .flatMap((tag) => ["--tag", `docker.io/denoland/deno:${tag}`]);
  await build(...tags, "--file", file, "/");
}

function build(...args: readonly string[]): Promise<string> {
  const options = ["--isolation", "chroot", "--pull=never", "--quiet"];
  return runWell([...BUILDAH, "build", ...options, ...args]);
}

// ---- Running ----

/**
 * Starts a container, as `docker run --read-only --cap-drop ALL --network host` does, with a volume
 * at /data that belongs to the user of the image.
 */
function startContainer(
  t: TestContext,
  volume: string,
  args: readonly string[] = image.Cmd,
  { env = [], entrypoint = image.Entrypoint }: {
    readonly env?: readonly string[];
    readonly entrypoint?: readonly string[];
  } = {},
) {
  const [uid, gid] = image.User.split(":").map(Number);
  chownSync(volume, uid, gid);
  const config = {
    ociVersion: "1.0.2",
    root: { path: image.root, readonly: true },
    process: {
      args: [...entrypoint, ...args],
      env: [...image.Env, ...env],
      cwd: image.WorkingDir,
      user: { uid, gid },
      capabilities: {},
      noNewPrivileges: true,
    },
    mounts: [
      { destination: "/proc", type: "proc", source: "proc" },
      { destination: "/dev", type: "tmpfs", source: "tmpfs" },
      { destination: "/data", source: volume, options: ["bind"] },
    ],
    linux: { namespaces: [{ type: "pid" }, { type: "mount" }] },
  };
  const bundle = newFolder(t);
  writeFileSync(join(bundle, "config.json"), JSON.stringify(config));
  const id = basename(bundle);
  const run = [...RUNC, "run", "--bundle", bundle, id];
  const container = startProgram(t, run);
  atEnd(t, () => runWell([...RUNC, "delete", "--force", id]));
  return {
    ...container,
    /** Returns what it has written when it has ended with 0. */
    async result(): Promise<string> {
      const { exited, stdout, stderr } = container;
      assert.equal(await exited, 0, stdout() + stderr());
      return stdout();
    },
  };
}

/** Starts the server, and waits until it is ready. */
async function startServer(t: TestContext, volume: string) {
  const port = await freePort();
  const env = [`PORT=${port}`];
  const server = startContainer(t, volume, undefined, { env });
  const origin = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(`${origin}/readyz`).then(({ ok }) => ok, () => false);
  await until("the server is ready", isReady).catch((cause) => {
    throw new Error(server.stdout() + server.stderr(), { cause });
  });
  return { server, fetch, base: `${origin}/v1` };
}

inContainer.test("the image adds a pet as a user who can only write to /data, and keeps it", async (t) => {
  const volume = newFolder(t);
  const first = await startServer(t, volume);
  const issued = startContainer(t, volume, ["keys", "issue", "a test"]);
  const [key = ""] = /pet_\w+/.exec(await issued.result()) ?? [];
  const body = '{"name":"Rex","categoryId":9007199254740993}';
  const added = await ask({ ...first, key }, "POST", "/pets", { body });
  assert.deepEqual([added.status, added.text], [201, REX]);
  assert.equal(await first.server.end(), 0, first.server.stderr());
  const second = await startServer(t, volume);
  const found = await ask({ ...second, key }, "GET", "/pets/1");
  assert.deepEqual([found.status, found.text], [200, REX]);
});

inContainer.test("the image has the sandbox, and the judge of any store", async (t) => {
  const volume = newFolder(t);
  const port = await freePort();
  const words = ["sandbox", "--host", "0.0.0.0", "--port", `${port}`];
  const sandbox = startContainer(t, volume, words);
  assert.match(`${await sandbox.nextLine()}`, /"key":"test"/);
  const judge = ["judge", `http://127.0.0.1:${port}/v1`, "--only", "spec"];
  const env = ["PETSTORE_KEY=test"];
  const report = await startContainer(t, volume, judge, { env }).result();
  assert.match(report, /^The interface: 35 hold, 0 fail, 0 cannot/m);
});

inContainer.test("the image examines a client that is mounted", async (t) => {
  const volume = newFolder(t);
  copyFileSync(pathOf("docs/examples/exam/adapter.ts"), join(volume, "my.ts"));
  const entrypoint = ["deno", "run", "-A", "/app/tests/program.ts"];
  const words = "exam --only lost -- deno run -A /data/my.ts".split(" ");
  const exam = startContainer(t, volume, words, { entrypoint });
  assert.match(await exam.result(), /^\d+ trials: /m);
});
