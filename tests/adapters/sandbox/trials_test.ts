/** The ten trials of docs/examples/client_trials.json, and our own client in them. */
import assert from "node:assert/strict";
import test from "node:test";
import { type Client, makeClient } from "../../../adapters/client/client.ts";
import type { PetStoreError } from "../../../adapters/client/mod.ts";
import { readOptions } from "../../../adapters/client/options.ts";
import { type Fault, sandbox } from "../../../adapters/sandbox/mod.ts";
import { atEnd } from "../../support/at_end.ts";
import { readText } from "../../support/repository.ts";

interface Trial {
  readonly title: string;
  readonly call: keyof typeof CALLS;
  readonly faults: readonly Fault[];
  /** What a good client does. */
  readonly good: string;
  /** The method and status of each request, and the `after` of its query. */
  readonly journal: readonly string[];
  /** How long after the first request the second must come, in ms. */
  readonly waits?: number;
  /** How many pets there are at the end; 150 at the beginning. */
  readonly pets: number;
}

const trials: readonly Trial[] = JSON.parse(
  readText("docs/examples/client_trials.json"),
);

const CALLS = {
  createPet: (client: Client) =>
    client.createPet({ name: "Rex", categoryId: 1n }),
  listPets: (client: Client) => client.listPets(),
  walk: (client: Client) => Array.fromAsync(client.pets()),
} as const;

/** The error code of our client in trials where it must fail. */
const FAILS: Readonly<Record<string, string>> = {
  "the next page fails": "internal_error",
  "the key is refused half-way": "unauthorized",
};

test("there are ten trials", () => {
  assert.equal(new Set(trials.map(({ title }) => title)).size, 10);
});

for (const { title, call, faults, good, journal, waits, pets } of trials) {
  test(`our client, when ${title}, ${good}`, async (t) => {
    const store = sandbox({ pets: 150 });
    const { url: baseUrl, key, close } = await store.serve();
    atEnd(t, close);
    const settings = readOptions({ baseUrl, key, timeout: 5000 });
    const client = makeClient({
      ...settings,
      // Pauses are ten times as fast, but a busy machine needs the time limit.
      setTimer: (ms, callback) =>
        settings.setTimer(ms < 5000 ? ms / 10 : ms, callback),
    });
    store.add(faults.map((one) => one.delay ? { delay: 60_000 } : one));
    const result = await CALLS[call](client)
      .catch((error: PetStoreError) => error.code);
    const seen = store.requests.map(({ method, target, status }) => {
      const after = /\bafter=\d+/.exec(target)?.[0];
      return [method, `${status}`, after].filter((part) => part !== undefined)
        .join(" ");
    });
    assert.deepEqual(seen, journal);
    if (waits !== undefined) {
      const [first = 0, second = 0] = store.requests.map(({ time }) => time);
      const waited = second - first;
      assert.ok(waited >= waits / 10 - 5, `${waited}`); // timers may be early
    }
    if (title in FAILS) assert.equal(result, FAILS[title]);
    else assert.equal(typeof result, "object", `${result}`);
    if (title.startsWith("ids")) {
      const [rex] = result as { id: bigint; categoryId: bigint }[];
      assert.deepEqual(
        [rex?.id, rex?.categoryId],
        [9007199254740993n, -9007199254740993n],
      );
    }
    const keys = store.requests.filter(({ method }) => method === "POST")
      .map(({ headers }) => headers["idempotency-key"]);
    assert.ok(new Set(keys).size <= 1, "each has the same Idempotency-Key");
    assert.equal((await Array.fromAsync(client.pets())).length, pets);
  });
}
