/** Load over HTTP, and what became of it: what was acknowledged is there, what was refused is not. */

import assert from "node:assert/strict";
import {
  type Client,
  createClient,
  PetStoreError,
} from "../../adapters/client/mod.ts";

// The defaults of `postgresStorage`, in ms.
const CONNECT_TIMEOUT = 3000;
const QUERY_TIMEOUT = 5000;
const MAX_WAIT = 2000;
/** What the machine may add to it when it is busy, in ms. */
const SLACK = 1000;

/** How long a read may take: it is given a connection, and then an answer. */
const LONGEST_READ = CONNECT_TIMEOUT + QUERY_TIMEOUT + SLACK;

/**
 * How long a create may take. It waits for the batch before its own, and is refused if that took longer
 * than `MAX_WAIT`; so the longest is one that came a little later, and is in a batch that takes as long.
 */
export const LONGEST_CREATE = MAX_WAIT + LONGEST_READ;

/** What a writer was told of one create. */
export type Outcome =
  /** 201. */
  | "acknowledged"
  /** 503 with `Retry-After`: nothing was changed. */
  | "refused"
  /** 503 without it: the animal may have been added. */
  | "uncertain";

/** One create. */
export interface Create {
  readonly name: string;
  readonly outcome: Outcome;
  /** The animal's id, where it was acknowledged. */
  readonly id: bigint | undefined;
  /** How long the answer took, in ms. */
  readonly took: number;
}

/** A server that is asked, and with what. */
export interface Target {
  readonly origin: string;
  readonly key: string;
  /** Sends the requests. Default: the global `fetch`. */
  readonly fetch?: (request: Request) => Promise<Response>;
}

/** Requests to servers, and what was answered. */
export class Load {
  /** All creates that were answered, in the order of the answers. */
  readonly creates: Create[] = [];
  /** How long reads took, in ms, answered and refused ones. */
  readonly reads: number[] = [];
  /** How many reads were refused. */
  refusedReads = 0;
  #sent = 0;
  #isOver = false;
  #failure: unknown;
  readonly #workers: Promise<void>[] = [];

  /** Creates one animal with a name of its own. */
  async create(target: Target): Promise<Create> {
    const number = ++this.#sent;
    const name = `Rex ${number}`;
    const client = clientOf(target);
    const start = performance.now();
    let outcome: Outcome = "acknowledged";
    let id: bigint | undefined;
    try {
      const pet = await client.createPet({
        name,
        categoryId: BigInt(number),
        status: statusOf(number),
      });
      id = pet.id;
    } catch (error) {
      outcome = outcomeOf(error);
    }
    const create = { name, outcome, id, took: performance.now() - start };
    this.creates.push(create);
    return create;
  }

  /** Lists a page. */
  async read(target: Target): Promise<void> {
    const start = performance.now();
    try {
      await clientOf(target).listPets();
    } catch (error) {
      assert.equal(outcomeOf(error), "refused", "a read changes nothing");
      this.refusedReads++;
    }
    this.reads.push(performance.now() - start);
  }

  /** Begins to create and to read without end, with so many under way at each target at once. */
  start(
    targets: readonly Target[],
    { writers, readers = 0 }: { writers: number; readers?: number },
  ): void {
    const begin = async (work: () => Promise<boolean>) => {
      try {
        // Those who are refused at once are not to come back at once.
        while (!this.#isOver) if (!await work()) await pause(20);
      } catch (error) {
        this.#failure ??= error;
      }
    };
    for (const target of targets) {
      const create = async () =>
        (await this.create(target)).outcome === "acknowledged";
      const read = () => this.read(target).then(() => false);
      for (let i = 0; i < writers; i++) this.#workers.push(begin(create));
      for (let i = 0; i < readers; i++) this.#workers.push(begin(read));
    }
  }

  /** Ends what {@linkcode start} began; rejects where an answer was not as it must be. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#workers);
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** How many creates had this outcome. */
  count(outcome: Outcome): number {
    return this.creates.filter((create) => create.outcome === outcome).length;
  }

  /** Asserts that the slowest answers came in time. */
  assertInTime(longestRead = LONGEST_READ): void {
    const read = Math.max(0, ...this.reads);
    assert.ok(read < longestRead, `a read took ${read} ms`);
    const create = Math.max(0, ...this.creates.map(({ took }) => took));
    assert.ok(create < LONGEST_CREATE, `a create took ${create} ms`);
  }

  /** Fulfilled once so many more creates are acknowledged; rejects where that takes too long. */
  async more(count: number, timeout = 20_000): Promise<void> {
    const deadline = performance.now() + timeout;
    const enough = this.count("acknowledged") + count;
    while (this.count("acknowledged") < enough) {
      if (this.#failure !== undefined) throw this.#failure;
      assert.ok(performance.now() < deadline, "no animals can be added");
      await pause(20);
    }
  }

  /**
   * Walks through the animals of a server and holds them against the answers: every animal that was
   * acknowledged is there, whole and once, and none that was refused.
   *
   * @returns how many of the uncertain ones were added.
   */
  async verify(target: Target): Promise<number> {
    const byName = new Map(this.creates.map((create) => [create.name, create]));
    const found = new Map<bigint, string>();
    const names = new Set<string>();
    let last = 0n;
    let added = 0;
    for await (const { id, name, categoryId, status } of walk(target)) {
      assert.ok(id > last, `${id} comes after ${last}`);
      last = id;
      const create = byName.get(name);
      assert.ok(create !== undefined, `nobody created ${name}`);
      assert.notEqual(create.outcome, "refused", `${name} was refused`);
      assert.ok(!names.has(name), `${name} is there twice`);
      assert.equal(name, `Rex ${categoryId}`);
      assert.equal(status, statusOf(Number(categoryId)));
      if (create.outcome === "uncertain") added++;
      found.set(id, name);
      names.add(name);
    }
    const lost = this.creates.filter(({ id, name }) =>
      id !== undefined && found.get(id) !== name
    );
    assert.deepEqual(lost, [], "acknowledged animals are lost");
    return added;
  }
}

/** Waits. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

const STATUSES = ["available", "pending", "sold"] as const;

function statusOf(number: number): typeof STATUSES[number] {
  return STATUSES[number % 3] as typeof STATUSES[number];
}

/** More than any answer takes: so it is always known what the server says. */
const TIMEOUT = 60_000;

function clientOf({ origin, key, fetch = globalThis.fetch }: Target): Client {
  return createClient({
    baseUrl: `${origin}/v1`,
    key,
    retries: 0,
    timeout: TIMEOUT,
    fetch: async (request) => {
      const isCreate = request.method === "POST";
      const response = await fetch(request);
      if (!response.ok) await checkRefusal(response.clone(), isCreate);
      return response;
    },
  });
}

async function* walk(target: Target): AsyncGenerator<
  { id: bigint; name: string; categoryId: bigint; status: string }
> {
  yield* clientOf(target).pets();
}

/** The two refusals there are: the message and `Retry-After` tell the same. */
async function checkRefusal(
  response: Response,
  isCreate: boolean,
): Promise<void> {
  const body = await response.text();
  assert.equal(response.status, 503, body);
  assert.match(
    response.headers.get("content-type") ?? "",
    /^application\/json/,
  );
  const { code, message, status, ...rest } = JSON.parse(body);
  assert.deepEqual([code, status, rest], ["service_unavailable", 503, {}]);
  if (response.headers.has("retry-after")) {
    assert.match(message, /nothing was changed, and the request can be sent/);
  } else {
    assert.ok(isCreate, "a read changes nothing");
    assert.match(message, /Cannot tell whether the pet was added/);
  }
}

function outcomeOf(error: unknown): Outcome {
  // The server never ends: so there is always an answer.
  if (!(error instanceof PetStoreError) || error.status !== 503) throw error;
  return error.uncertain ? "uncertain" : "refused";
}
