/** Clients that repeat a create blindly, with the same idempotency key, until it is answered 201. */

import assert from "node:assert/strict";
import { pause } from "./load.ts";

/** How many clients there are at once. */
const CLIENTS = 64;
/** How long a client waits for an answer, in ms. */
const PATIENCE = 3000;

/** What the clients did. */
export class Repeats {
  /** The id that was answered for each key. */
  readonly ids = new Map<string, string>();
  /** How many requests were sent. */
  sent = 0;
  /** How many answers said that they were replayed. */
  replayed = 0;
  readonly #origins: () => readonly string[];
  readonly #clients: readonly Promise<void>[];
  #isOver = false;
  #failure: unknown;

  /** Begins; `origins` says where there are servers now. They take the API key `secret`. */
  constructor(origins: () => readonly string[]) {
    this.#origins = origins;
    this.#clients = Array.from({ length: CLIENTS }, async (_, client) => {
      try {
        for (let n = 0; !this.#isOver; n++) {
          await this.#create(`${client}-${n}`);
        }
      } catch (error) {
        this.#failure ??= error;
      }
    });
  }

  /** Fulfilled once so many more keys are answered 201. */
  async more(count: number): Promise<void> {
    const enough = this.ids.size + count;
    const deadline = performance.now() + 40_000;
    while (this.ids.size < enough) {
      if (this.#failure !== undefined) throw this.#failure;
      assert.ok(performance.now() < deadline, "no animals can be added");
      await pause(10);
    }
  }

  /** Ends the clients once each has an answer, and asserts that there is one pet for each key. */
  async verify(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#clients);
    if (this.#failure !== undefined) throw this.#failure;
    const found = new Map<string, string>();
    let after = "0";
    for (;;) {
      const text = await this.#list(after);
      const pets = [...text.matchAll(/"id":(\d+),"name":"([^"]+)"/g)];
      for (const [, id = "", name = ""] of pets) {
        assert.ok(!found.has(name), `${name} was added twice`);
        found.set(name, id);
        after = id;
      }
      if (pets.length === 0) break;
    }
    assert.deepEqual([...found].sort(), [...this.ids].sort());
  }

  /** Creates one pet; one key in four is sent to all servers at once, and once more after that. */
  async #create(key: string): Promise<void> {
    const all = this.#origins();
    const isDoubled = Number(key.split("-")[1]) % 4 === 3;
    const answers = isDoubled
      ? await Promise.all(all.map(() => this.#untilAnswered(key)))
      : [await this.#untilAnswered(key)];
    if (isDoubled) answers.push(await this.#untilAnswered(key));
    assert.equal(new Set(answers).size, 1, `${key}: ${answers}`);
    this.ids.set(key, answers[0] ?? "");
  }

  async #untilAnswered(key: string): Promise<string> {
    for (;;) {
      this.sent++;
      const origins = this.#origins();
      const origin = origins[this.sent % origins.length];
      const response = await fetch(`${origin}/v1/pets`, {
        method: "POST",
        headers: {
          authorization: "Bearer secret",
          "content-type": "application/json",
          "idempotency-key": `"${key}"`,
        },
        body: JSON.stringify({ name: key, categoryId: 1 }),
        signal: AbortSignal.timeout(PATIENCE),
      }).then(read, () => undefined);
      if (response?.status === 201) {
        if (response.replayed) this.replayed++;
        return /"id":(\d+)/.exec(response.text)?.[1] ?? "";
      }
      // Whatever else it is, it is a fault that the test brought about.
      const status = response?.status ?? 503;
      assert.equal(status, 503, response?.text ?? "");
      await pause(20);
    }
  }

  async #list(after: string): Promise<string> {
    const [origin] = this.#origins();
    const response = await fetch(`${origin}/v1/pets?limit=100&after=${after}`, {
      headers: { authorization: "Bearer secret" },
    });
    assert.equal(response.status, 200);
    return await response.text();
  }
}

interface Read {
  readonly status: number;
  readonly replayed: boolean;
  readonly text: string;
}

/** Reads an answer; `undefined` if it is cut short. */
async function read(response: Response): Promise<Read | undefined> {
  try {
    const { status, headers } = response;
    const replayed = headers.get("idempotency-replayed") === "true";
    return { status, replayed, text: await response.text() };
  } catch {
    return undefined;
  }
}
