/** The judge, on our own server and on a naive one, which docs/judge.md shows. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { inNewFolder, RUNTIME } from "../adapters/standalone/program.ts";
import { apiKeys } from "../../core/keys/api_keys.ts";
import { handleService } from "../contract/handle_service.ts";
import { HTTP_CLAUSES } from "../contract/http_contract.ts";
import { freePort } from "../support/ports.ts";
import { withStandalone } from "../support/servers/standalone.ts";
import { findRuntimes } from "../support/servers/start.ts";
import { judge } from "./judge.ts";

const FLAGS = { deno: ["run", "-A"], bun: [], node: ["--no-warnings"] };
const KEY = ["--key", "secret"];
const EXAMPLES = new URL("../../docs/examples/frameworks/", import.meta.url);
const PAGE = new URL("../../docs/judge.md", import.meta.url);

/** Runs the judge to its end. */
function run(
  args: readonly string[],
  command = process.execPath,
  name = RUNTIME,
): { readonly status: number | null; readonly text: string } {
  const main = fileURLToPath(new URL("main.ts", import.meta.url));
  const all = [...FLAGS[name], main, ...args];
  const ended = spawnSync(command, all, { encoding: "utf8" });
  return { status: ended.status, text: ended.stdout + ended.stderr };
}

for (const runtime of findRuntimes()) {
  const { name, command, missing } = runtime;
  test(`the judge on ${name} finds no fault with our own server there`, {
    skip: missing ?? false,
  }, () =>
    withStandalone(runtime, {}, ({ port }) => {
      const address = `http://127.0.0.1:${port}/v1`;
      const { status, text } = run([address, ...KEY], command, name);
      assert.equal(status, 0, text);
      assert.match(text, /: \d+ hold, 0 fail, 0 cannot .*\n.*, 0 fail, 3 can/);
      return Promise.resolve();
    }));
}

const skip = RUNTIME !== "deno" && "the naive store runs on Deno";
const SHOWN = "docs/judge.md shows what the judge says of a naive pet store";
test(SHOWN, { skip }, () =>
  inNewFolder(async (cwd) => {
    const port = String(await freePort());
    const naive = readFileSync(new URL("naive.ts", EXAMPLES), "utf8");
    writeFileSync(join(cwd, "naive.ts"), naive.replace("3000", port));
    const config = fileURLToPath(new URL("deno.json", EXAMPLES));
    const flags = ["run", "-A", "--frozen", "--config", config, "naive.ts"];
    const store = spawn(process.execPath, flags, { cwd, stdio: "ignore" });
    const ended = new Promise((resolve) => store.once("close", resolve));
    const mask = (text: string): string =>
      text.replaceAll(/(?:date|etag): .*|\(\d+ characters/g, "")
        .replaceAll(/Rex [\da-f-]{36}/g, "Rex").replaceAll(port, "3000");
    try {
      let judged = { status: 0 as number | null, text: "" };
      for (let i = 0; i < 20 && !/^Judging/.test(judged.text); i++) {
        judged = run([`http://localhost:${port}/v1`, ...KEY]);
      }
      assert.equal(judged.status, 1);
      const page = readFileSync(PAGE, "utf8");
      const [shown = ""] = page.split(/^\$ deno .*\n|^```$/m).slice(-2);
      let rest = mask(judged.text);
      for (const part of mask(shown).split(/^ *…\n/m)) {
        assert.ok(rest.includes(part), `not there, or not then: ${part}`);
        rest = rest.slice(rest.indexOf(part) + part.length);
      }
      assert.equal(rest, "");
    } finally {
      store.kill("SIGKILL");
      await ended;
    }
  }));

test("the judge refuses what it cannot judge, in a sentence", async () => {
  const local = `http://127.0.0.1:${await freePort()}/v1`;
  const wrong: [status: number, RegExp, ...args: string[]][] = [
    [2, /base address/, "http://localhost/v2", ...KEY],
    [2, /--key KEY/, local],
    [2, /--only can be spec/, local, ...KEY, "--only", "x"],
    [2, /example\.com is not .*--yes/, "https://example.com/v1", ...KEY],
    [1, /^Nothing answers at http:.*: .*refused.*\n$/i, local, ...KEY],
  ];
  for (const [expected, words, ...args] of wrong) {
    const { status, text } = run(args);
    assert.match(text, words);
    assert.equal(status, expected, text);
  }
});

test("the judge goes on after a clause that never ends, and hides the key", async () => {
  const never = () => new Promise<never>(() => {});
  const service = { fetch: never, base: "", close: never, key: "secret" };
  const { outcome, text } = await judge({
    sentence: "it ends",
    source: "interface",
    checks: [({ seen, key }) => (seen?.(`${key} ${key}x`), never())],
  }, service);
  assert.equal(outcome, "fails");
  assert.match(text, /No end after 10 s\s+> KEY KEYx\s+< nothing/);
});

test("a key of one letter fails no clause, and is hidden only as a word", async () => {
  const service = { ...handleService({ keys: apiKeys(["k"]) }), key: "k" };
  for (const { sentence, checks } of HTTP_CLAUSES) {
    if (!sentence.startsWith("a wrong key is 401")) continue;
    for (const check of checks) await check(service);
  }
  const { text } = await judge({
    sentence: "it ends",
    source: "interface",
    checks: [({ seen }) => Promise.reject(seen?.("Bearer k\nX: key,k\n"))],
  }, service);
  assert.match(text, /> Bearer KEY\s+> X: key,KEY/);
});
