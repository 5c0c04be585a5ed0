/** The exam, of our own client in process. */
import assert from "node:assert/strict";
import { availableParallelism } from "node:os";
import test from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import {
  createClient,
  type Pet,
  PetStoreError,
  petToJson,
} from "../adapters/client/mod.ts";
import type { Runner } from "./exam/command.ts";
import { examine, limitsOf } from "./exam/exam.ts";
import { sendOnce } from "./exam/send_once.ts";
import { TRIALS } from "./exam/trial.ts";

/** Our client, as the adapter of docs/exam.md runs it. */
const ours: Runner = async (env, signal) => {
  const client = createClient({
    baseUrl: `${env.PETSTORE_URL}`,
    key: `${env.PETSTORE_KEY}`,
    timeout: 5 * Number(env.PETSTORE_TIMEOUT_MS),
  });
  const show = (pets: readonly Pet[]) => `[${pets.map(petToJson).join()}]`;
  const status = env.PETSTORE_STATUS as Pet["status"] | undefined;
  const calls: Readonly<Record<string, () => Promise<string>>> = {
    createPet: async () =>
      petToJson(
        await client.createPet({
          name: `${env.PETSTORE_NAME}`,
          categoryId: BigInt(`${env.PETSTORE_CATEGORY}`),
          ...status && { status },
        }, { signal }),
      ),
    getPet: async () =>
      petToJson(await client.getPet(BigInt(`${env.PETSTORE_ID}`), { signal })),
    listPets: async () => {
      const limit = Number(env.PETSTORE_LIMIT);
      return show((await client.listPets({ limit }, { signal })).pets);
    },
    walk: async () => show(await Array.fromAsync(client.pets({}, { signal }))),
  };
  try {
    return { code: 0, output: await calls[`${env.PETSTORE_CALL}`]?.() ?? "" };
  } catch (error) {
    if (!(error instanceof PetStoreError)) throw error;
    return { code: 1, output: "", errors: `${error}` };
  }
};

test("our client does no harm in any trial, and this is all the advice it gets", async () => {
  const results = await examine({
    run: ours,
    trials: TRIALS,
    limits: limitsOf(20_000),
    jobs: 8 * availableParallelism(),
  });
  assert.equal(results.length, TRIALS.length);
  const found = results.filter(({ verdict }) => verdict !== "good")
    .map(({ trial, findings }) => [
      trial.title,
      ...findings.map(({ name }) => name),
    ]);
  assert.deepEqual(found, [
    ["a create is answered with 500, after the work", "gives_up"],
    ["the 201 is cut, and has no length", "gives_up"],
    ["a page is cut, and has no length", "gives_up"],
    ["the JSON of a page is cut, within whole HTTP", "gives_up"],
  ]);
});

test("sendOnce sends nothing after its signal, and throws nothing later", async () => {
  const url = "http://127.0.0.1:9";
  const patience = { whole: Infinity, byte: Infinity };
  const signal = AbortSignal.abort();
  const sent = { method: "GET", url, headers: {} };
  assert.deepEqual(await sendOnce(sent, patience, signal), {
    status: 0,
    headers: {},
    text: "",
    problem: "lost",
  });
  await delay(100); // time for an error that nobody would catch
});
