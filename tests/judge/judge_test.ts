/** The judge, on stores with mistakes. `judge_slow.ts` adds freedoms to them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { apiKeys } from "../../core/keys/api_keys.ts";
import { handleService } from "../contract/handle_service.ts";
import { HTTP_CLAUSES } from "../contract/http_contract.ts";
import { INTERFACE_CLAUSES } from "../contract/interface_contract.ts";
import { judge, judgeClause } from "./judge.ts";
import { clause, MISTAKES, serviceWith } from "./switchable_store.ts";

const SPEC = { isInterfaceOnly: true };

test("the judge blames no store without mistakes, and follows links to other pages", async () => {
  const stores = [
    [],
    ["the store has 250 pets", "ids are scattered", "the newest comes first"],
    ["no page links the next", "pets have more members", "ids start at 0"],
  ];
  for (const freedoms of stores) {
    const { clauses } = await judge(serviceWith(...freedoms), SPEC);
    const others = clauses.filter(({ outcome }) => outcome !== "holds");
    assert.deepEqual(others, [], freedoms.join(", "));
  }
});

test("the judge blames each mistake by the clause of its name", async () => {
  for (const [mistake, sentence] of Object.entries(MISTAKES)) {
    const service = serviceWith(mistake);
    const { outcome } = await judgeClause(clause(sentence), service);
    assert.equal(outcome, "fails", mistake);
  }
});

test("each clause of the interface blames a mistake", () => {
  const blaming = new Set(Object.values(MISTAKES));
  assert.deepEqual([...blaming].sort(), Object.keys(INTERFACE_CLAUSES).sort());
});

test("the judge says what to mend first, and how many pets it added", async () => {
  const service = serviceWith("any key will do", "names are trimmed");
  let added = 0;
  const { clauses, mendFirst, petsAdded } = await judge({
    ...service,
    async fetch(request) {
      const answer = await service.fetch(request);
      if (answer.status === 201) added++;
      return answer;
    },
  }, SPEC);
  const wrong = clauses.filter(({ outcome }) => outcome === "fails");
  assert.ok(wrong.length > 1);
  assert.equal(mendFirst, wrong[0]?.sentence);
  assert.match(mendFirst ?? "", /^no key or a wrong one/);
  assert.equal(petsAdded, added);
});

test("the judge says so if the store refuses its plain pet", async () => {
  const refuses = serviceWith("categories below 1 are 400");
  const judging = judge({ ...refuses, categoryId: 0n });
  await assert.rejects(judging, /refuses the pet .*--category ID.*refused/);
  const fetch = async () => new Response("\u001b[31m secret", { status: 400 });
  const echoes = judge({ ...refuses, fetch, key: "secret" });
  await assert.rejects(echoes, ({ message }: Error) => {
    assert.match(message, /It says: .*KEY$/);
    return !message.includes("\u001b");
  });
});

test("the judge goes on after a request that is never answered, and hides the key", async () => {
  const close = () => Promise.resolve();
  const key = "secret";
  const never = () => new Promise<never>(() => {});
  const service = { fetch: never, base: "http://localhost/v1", close, key };
  const { clauses } = await judge(service, {
    ...SPEC,
    patience: 1,
  });
  for (const { outcome, reason, exchange, sentence } of clauses) {
    assert.equal(outcome, "fails", sentence);
    assert.match(reason ?? "", /No answer after 0.001 s/);
    assert.match(exchange ?? "", /^> [^]*< nothing$/);
    assert.doesNotMatch(exchange ?? "", /secre/i);
  }
});

test("the judge hides a key however it is written", async () => {
  for (const key of ["secret", "k", "Se+cret=="]) {
    const service = { ...handleService({ keys: apiKeys([key]) }), key };
    const forms = [key, key.toUpperCase(), btoa(`${key}:`), `X: ${key},x`];
    const { exchange = "" } = await judgeClause((client) => {
      client.report(forms.join("\n"));
      return Promise.reject(new Error("It fails"));
    }, service);
    assert.equal(exchange, "> KEY\n> KEY\n> KEY\n> X: KEY,x\n< nothing");
  }
});

test("a key of one letter fails no clause on keys", async () => {
  const service = { ...handleService({ keys: apiKeys(["k"]) }), key: "k" };
  const clauses = { ...INTERFACE_CLAUSES, ...HTTP_CLAUSES };
  for (const [sentence, check] of Object.entries(clauses)) {
    if (typeof check !== "function" || !/\bkey\b/.test(sentence)) continue;
    const { outcome, reason } = await judgeClause(check, service);
    assert.equal(outcome, "holds", `${sentence}: ${reason}`);
  }
});
