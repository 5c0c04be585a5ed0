/** The recipes of docs/sandbox.md: a test in each language, on a sandbox that ends with it. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { placeExample } from "../support/examples.ts";
import { pathOf, readText, ROOT } from "../support/repository.ts";
import { startSandbox } from "../adapters/sandbox/sandbox_program.ts";
import { atEnd } from "../support/at_end.ts";
import { findRuntimes, skipping } from "../support/runtime.ts";
import { newFolder } from "../support/temporary_directory.ts";
import { until } from "../support/time.ts";

const SANDBOX = `${process.execPath} run -A --no-lock ${
  pathOf("adapters/sandbox/main.ts")
}`;
const JUNIT = "org.junit.platform:junit-platform-console-standalone:1.13.4:jar";

/** By language: a file, what fails if the language or its packages are missing, and the command. */
const RECIPES = {
  pytest: {
    file: "conftest.py",
    test: "test_petstore.py",
    probe: "python3 -m venv --help && python3 -m pip index versions pytest",
    run:
      "python3 -m venv v && v/bin/pip -q install pytest==9.0.2 pytest-xdist==3.8.0 && v/bin/pytest -q -n 8",
  },
  "Go's TestMain": {
    file: "petstore_test.go",
    test: "petstore_test.go",
    probe: "go version | grep -E 'go1\\.(2[2-9]|[3-9][0-9])'",
    run: "go mod init example && go vet ./... && go test ./...",
  },
  JUnit: {
    file: "PetStoreTest.java",
    test: "PetStoreTest.java",
    probe: "javac --version && mvn --version",
    run: `mvn -q dependency:copy -Dartifact=${JUNIT} -DoutputDirectory=. &&
      mv junit-*.jar junit.jar && javac -cp junit.jar PetStoreTest.java &&
      java -jar junit.jar execute --disable-banner --class-path . --scan-class-path`,
  },
};

for (
  const [name, { file, test: tested, probe, run }] of Object.entries(RECIPES)
) {
  const isMissing = sh(probe, ROOT).status !== 0;
  const skip = skipping(
    isMissing && `No recipe for ${name} is run: it or its packages are missing`,
  );
  test(`the recipe for ${name} passes, and leaves no sandbox behind`, {
    skip,
    timeout: 600_000,
  }, async (t) => {
    const cwd = newFolder(t);
    const program = readText(`docs/examples/sandbox/${file}`);
    const marked = program.replace(
      "npx --no petstore sandbox",
      `${SANDBOX} --key ${mark(cwd)}`,
    );
    assert.notEqual(marked, program);
    writeFileSync(join(cwd, file), marked);
    const test = file === tested
      ? marked
      : readText(`docs/examples/sandbox/${tested}`);
    writeFileSync(join(cwd, tested), test);
    const { status, stdout, stderr } = sh(run, cwd);
    assert.equal(status, 0, stdout + stderr);
    await assertEnded(cwd);
    // The check can fail: an answer that is not lost leaves one request.
    writeFileSync(
      join(cwd, tested),
      test.replace(/lose(.{1,4}) ?[tT]rue/, "cut$1 999"),
    );
    assert.notEqual(
      sh(run.replace(/.*mod init example &&|.*pytest-xdist==3.8.0 &&/, ""), cwd)
        .status,
      0,
    );
    await assertEnded(cwd);
  });
}

for (
  const [file, command] of [
    ["sandbox/node_test.ts", "node --test"],
    ["sandbox/deno_test.ts", "deno test -A"],
  ] as const
) {
  test(`the recipe ${file} passes`, (t) => {
    const path = placeExample(file, newFolder(t));
    const { status, stdout, stderr } = sh(`${command} ${path}`, ROOT);
    assert.equal(status, 0, stdout + stderr);
  });
}

/** A create with what Java has as it comes, on a connection that another request has used. */
const JAVA = `
import java.net.*;

class Create {
  public static void main(String[] args) throws Exception {
    for (String method : new String[] {"GET", "POST"}) {
      var create = (HttpURLConnection) new URL(args[0] + "/pets").openConnection();
      create.setRequestProperty("Authorization", "Bearer test");
      if (method == "POST") {
        create.setDoOutput(true);
        create.setRequestProperty("Content-Type", "application/json");
        create.getOutputStream().write("{\\"name\\":\\"Rex\\",\\"categoryId\\":1}".getBytes());
      }
      create.getInputStream().readAllBytes();
    }
  }
}`;

const isJavaMissing = sh("java --version", ROOT).status !== 0;
for (const runtime of findRuntimes()) {
  const skip = skipping(
    runtime.missing ?? (isJavaMissing && "Java is missing"),
  );
  test(
    `${runtime.name}: Java sends a create whose answer was lost again, and adds a second pet`,
    { skip },
    async (t) => {
      const path = join(newFolder(t), "Create.java");
      writeFileSync(path, JAVA);
      const { program, url, tell, requests } = await startSandbox(
        "--quiet",
        runtime,
      );
      atEnd(t, () => program.end("SIGKILL"));
      await tell("POST", "/faults", {
        when: { method: "POST" },
        lose: true,
        work: true,
      });
      const { status, stderr } = sh(`java ${path} ${url}`, ROOT);
      assert.equal(status, 0, stderr);
      const added = (await requests()).map(({ added }) => added);
      assert.deepEqual(added, [undefined, 1, 2]);
    },
  );
}

/** The key of a test's sandboxes, by which they are found among all processes. */
function mark(cwd: string): string {
  return cwd.replaceAll(/\W/g, "");
}

function assertEnded(cwd: string): Promise<void> {
  return until(
    "no sandbox is left",
    () => !sh("ps -eo args", cwd).stdout.includes(mark(cwd)),
  );
}

function sh(command: string, cwd: string) {
  return spawnSync("sh", ["-c", command], { cwd, encoding: "utf8" });
}
