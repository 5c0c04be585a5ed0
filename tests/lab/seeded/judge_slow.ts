/** The judge, on the naive store of docs/judge.md, as a program, and on stores with choices. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sandbox } from "../../../adapters/sandbox/mod.ts";
import { atEnd } from "../../support/at_end.ts";
import { freePort, run, startProgram } from "../../support/process.ts";
import { handleService } from "../../support/handle_service.ts";
import { pathOf, readText } from "../../support/repository.ts";
import { newFolder } from "../../support/temporary_directory.ts";
import { HIDDEN, storeOf } from "../../support/seeded/choices.ts";
import { judge, type Report } from "../../judge/judge.ts";
import { DECISIONS, INTERFACE, REMOVAL } from "../../judge/sets.ts";
import { CLAUSES } from "../../support/seeded/mistakes.ts";
import { KEY as SEEDED_KEY } from "../../support/seeded/switchable_store.ts";
import { commandLine, RUNTIME } from "../../support/runtime.ts";
import { QUIET, startMain } from "../../support/standalone.ts";
import { rawRequest, untilServed, WITH_KEY } from "../../support/wire.ts";
import { runJudge } from "./run_judge.ts";

const KEY = ["--key", "secret"];
const EXAMPLES = "docs/examples/frameworks";

const skip = RUNTIME !== "deno" && "the naive store runs on Deno";
const SHOWN = "docs/judge.md shows what the judge says of a naive pet store";
test(SHOWN, { skip }, async (t) => {
  const cwd = newFolder(t);
  const port = String(await freePort());
  const naive = readText(`${EXAMPLES}/naive.ts`);
  writeFileSync(join(cwd, "naive.ts"), naive.replace("3000", port));
  const config = pathOf(`${EXAMPLES}/deno.json`);
  const flags = ["-A", "--frozen", "--config", config];
  startProgram(t, commandLine("naive.ts", flags), { cwd });
  const mask = (text: string): string =>
    text.replaceAll(/Seed: .*|\(\d+ characters/g, "")
      .replaceAll(/Rex[a-z]{9}/g, "Rex").replaceAll(port, "3000");
  const address = `http://localhost:${port}/v1`;
  await untilServed(Number(port), rawRequest("GET /v1/pets", [WITH_KEY]));
  const judged = await runJudge([address, "--only", "spec", ...KEY]);
  assert.equal(judged.code, 1, judged.text);
  const page = readText("docs/judge.md");
  const [shown = ""] = page.split(/^\$ deno .*\n|^```$/m).slice(-2);
  let rest = mask(judged.text);
  for (const part of mask(shown).split(/^ *…\n/m)) {
    assert.ok(
      rest.includes(part),
      `not there, or not then: ${part}\nThe rest: ${rest}`,
    );
    rest = rest.slice(rest.indexOf(part) + part.length);
  }
  assert.equal(rest, "");
});

test("the judge takes the key from PETSTORE_KEY, and prints JSON", async (t) => {
  const { origin } = await startMain(t, { env: QUIET });
  const address = `${origin}/v1`;
  const args = [address, "--only", "spec", "--json"];
  const env = { PETSTORE_KEY: "secret" };
  const { code, text } = await runJudge(args, { env });
  assert.equal(code, 0, text);
  const report: Report = JSON.parse(text);
  assert.equal(report.address, address);
  assert.equal(report.fixFirst, null);
  assert.ok(report.petsAdded > 100);
  for (const { source, outcome, sentence } of report.clauses) {
    assert.deepEqual([source, outcome], ["interface", "holds"], sentence);
  }
});

test("the judge exits with 1 only if more fails than in the baseline", async (t) => {
  const folder = newFolder(t);
  const [accepted, none] = ["accepted.txt", "none.txt"].map((name) =>
    join(folder, name)
  ) as [string, string];
  const trimming = "names are trimmed";
  let store = storeOf(trimming);
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    (request) => store.fetch(request),
  );
  atEnd(t, () => server.shutdown());
  const base = `http://127.0.0.1:${server.addr.port}/v1`;
  const args = [base, "--key", SEEDED_KEY, "--only", "spec"];
  const first = await runJudge(args);
  assert.equal(first.code, 1, first.text);
  const failed = first.text.matchAll(/^fails: .*/gm);
  writeFileSync(accepted, `\ufeff${[...failed].join("\r\n")}`); // as Windows writes it
  const runs: [code: number, words: RegExp, mistakes: string[]][] = [
    [0, /as in the baseline: .*\n[^]*In the baseline: \d+ of/, [trimming]],
    [1, /: \d+ of .*\nFix first: no key/, [trimming, "any key will do"]],
    [0, /^No longer fails, so remove it from .*accepted.txt: createPet /m, []],
  ];
  for (const [code, words, now] of runs) {
    store = storeOf(...now);
    const again = await runJudge([...args, "--baseline", accepted]);
    assert.match(again.text, words, `${words}`);
    assert.equal(again.code, code, again.text);
  }
  const strict = await runJudge([...args, "--baseline", accepted, "--strict"]);
  assert.match(strict.text, /^No longer fails, .*: createPet /m);
  assert.equal(strict.code, 1, strict.text);
  writeFileSync(accepted, "");
  const perfect = await runJudge([...args, "--baseline", accepted]);
  assert.equal(perfect.code, 0, perfect.text);
  const utf16 = `\xff\xfe${[...first.text].join("\0")}\0`;
  for (const text of [undefined, "{}", "fails: a clause of old", utf16]) {
    if (text !== undefined) writeFileSync(none, text, "latin1");
    const wrong = await runJudge([...args, "--baseline", none]);
    assert.match(wrong.text, /none.txt/, `${text}`);
    assert.equal(wrong.code, 2, wrong.text);
  }
});

test(
  "a store that answers 1 MB of brackets takes little memory",
  { skip },
  async (t) => {
    const body = `[${"[],".repeat(333_000)}[]]`;
    const headers = { "content-type": "application/json" };
    let id = 0;
    const server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      async (request) => {
        if (request.method !== "POST") return new Response(body, { headers });
        const pet = await request.json().catch(() => ({}));
        return Response.json({ ...pet, id: ++id }, { status: 201 });
      },
    );
    atEnd(t, () => server.shutdown());
    const main = pathOf("tests/judge/main.ts");
    const flags = ["-A", "--v8-flags=--max-old-space-size=128"];
    const address = `http://127.0.0.1:${server.addr.port}/v1`;
    const args = [address, ...KEY, "--only", "spec"];
    const { code, stdout } = await run([...commandLine(main, flags), ...args]);
    assert.match(stdout, /too many values[^]*\nAt least \d+ pets/);
    assert.equal(code, 1);
  },
);

test("the judge says if a sandbox has faults waiting", async (t) => {
  const own = sandbox();
  const store = await own.serve();
  atEnd(t, () => store.close());
  own.add({ when: { method: "POST" }, answer: { status: 500 } });
  const args = [store.url, "--key", store.key, "--only", "filters by each"];
  const first = await runJudge(args);
  assert.match(first.text, /sandbox with 1 waiting fault, .*\/sandbox\/faults/);
  assert.equal(first.code, 1);
  const second = await runJudge(args);
  assert.doesNotMatch(second.text, /waiting fault/);
  assert.equal(second.code, 0, second.text);
});

test("a store without getPet keeps the contract of the time after its removal", async () => {
  const gone = handleService({ getPet: false });
  const sets = [INTERFACE, DECISIONS, REMOVAL];
  const base = gone.base.replace("http:", "https:"); // without the clauses for sockets
  const after = { ...gone, base, isAfterRemoval: true };
  const { clauses } = await judge(after, { sets });
  const others = clauses.filter(({ outcome }) => outcome !== "holds")
    .filter(({ reason }) =>
      !/without TLS|option of the service/.test(`${reason}`)
    );
  assert.deepEqual(
    others.map(({ outcome, reason }) => `${outcome}: ${reason}`),
    Array(4).fill("unchecked: getPet is removed"),
  );
  const before = await judge({ ...gone, base }, { sets: [INTERFACE] });
  const hint = /; if getPet was removed, judge with --after-removal$/;
  const [first] = before.clauses.filter(({ reason }) => hint.test(`${reason}`));
  assert.equal(first?.sentence, before.fixFirst);
  const kept = handleService();
  const removed = { ...kept, base, isAfterRemoval: true };
  const report = await judge(removed, { sets: [REMOVAL] });
  const failed = report.clauses.filter(({ outcome }) => outcome === "fails");
  assert.equal(failed.length, Object.keys(REMOVAL.clauses).length);
});

test("the judge refuses what it cannot judge, in a sentence", async () => {
  const local = `http://127.0.0.1:${await freePort()}/v1`;
  const wrong: [code: number, RegExp, ...args: string[]][] = [
    [2, /PETSTORE_KEY, or --key KEY/, local],
    [2, /--category is an int64/, local, ...KEY, "--category", "x"],
    [
      2,
      /--only can be spec, or \(part of\) a clause/,
      local,
      ...KEY,
      "--only",
      "unicorns",
    ],
    [2, /example\.com is not .*--yes/, "https://example.com/v1", ...KEY],
    [2, /--strict needs --baseline/, local, ...KEY, "--strict"],
    [2, /--seed is a number/, local, ...KEY, "--seed", "x"],
  ];
  for (const [expected, words, ...args] of wrong) {
    const { code, text } = await runJudge(args);
    assert.match(text, words, `${words}`);
    assert.equal(code, expected, text);
  }
});

test("each clause blames its mistake after all other clauses, and without links", async () => {
  const linkless = "no page links the next";
  const judged = new Set<string>();
  for (const [mistake, sentence] of Object.entries(CLAUSES)) {
    if (judged.has(sentence) || HIDDEN[linkless]?.test(mistake)) continue;
    judged.add(sentence);
    const sentences = await failing(linkless, mistake);
    assert.ok(sentences.includes(sentence), mistake);
  }
});

/** The clauses of the interface that fail on a store with these mistakes and choices. */
async function failing(...names: readonly string[]): Promise<string[]> {
  const { clauses } = await judge(storeOf(...names), { sets: [INTERFACE] });
  return clauses.filter(({ outcome }) => outcome === "fails")
    .map(({ sentence }) => sentence);
}
