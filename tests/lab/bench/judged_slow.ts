/** The careful peer, judged as the README says. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ask } from "../../contract/ask.ts";
import { judge } from "../../judge/mod.ts";
import { readText } from "../../support/repository.ts";
import { findRuntime } from "../../support/runtime.ts";
import { KEY } from "./cases.ts";
import { openDatabases } from "./databases.ts";
import { install } from "./install.ts";
import { startServer } from "./measure.ts";
import { peer } from "./settings.ts";

test("the README's table says what the bench's peer on Hono does", async () => {
  const contestant = peer("Hono, node:sqlite", install());
  const databases = await openDatabases("sqlite");
  const url = await databases.create();
  await databases.fill(url, "peer", 1);
  const { port, process } = await startServer(
    findRuntime("deno"),
    contestant,
    url,
  );
  try {
    const baseUrl = `http://127.0.0.1:${port}/v1`;
    const service = { fetch, base: baseUrl, key: KEY };
    const create = async (body: string) => {
      const answer = await ask(service, "POST", "/pets", { body });
      const type = answer.headers.get("content-type") ?? "";
      return `${answer.status} ${type.split(";")[0]} ${answer.text}`;
    };
    const options = { baseUrl, key: KEY, onlyInterface: true };
    const { clauses } = await judge(options);
    const failed = clauses.filter(({ outcome }) => outcome === "fails");
    const judged = `${failed.length} of ${clauses.length} clauses fail`;
    const big = await create('{"name":"Rex","categoryId":9007199254740993}');
    assert.match(big, /^400 application\/json .*Invalid safe integer/);
    assert.match(await create(""), /^400 text\/plain /);
    const [, table = ""] = readText("README.md").split("[Hono, with care]");
    const column = table.split("\n")
      .filter((line) => line.startsWith("| "))
      .slice(1, 5).map((line) => line.split("|")[3]?.trim());
    assert.deepEqual(column, [
      judged,
      "refused, as a number",
      "400, but no Error body",
      "adds a second pet",
    ]);
  } finally {
    await process.stop();
    await databases.close();
  }
});
