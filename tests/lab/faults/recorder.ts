/** Clients that use pet stores at random, and record each operation with its times. */

import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { IssuedKeys } from "../../../adapters/keys/issued_keys.ts";
import { PET_STATUSES, type PetStatus } from "../../../core/pets/pet.ts";
import { until } from "../../support/time.ts";
import type { Create, Operation, Page, Seen } from "./checker.ts";

/** A pet store to ask. It may be somewhere else after a restart. */
export interface Target {
  readonly name: string;
  readonly origin: string;
  /** It accepts only reads, and its answers may be stale. */
  readonly isReplica?: boolean;
}

/** The API keys of the servers' database. */
export type Keys = Pick<IssuedKeys, "issue" | "revoke">;

/** The API key that every server takes. */
const FIXED_KEY = "secret";

/** The number of clients of each kind. */
const CLIENTS = { writers: 8, repeaters: 12, readers: 6, keyUsers: 2 };
/** Clients that repeat blindly, and all others, wait so many ms for an answer. */
const IMPATIENCE = 3000;
const PATIENCE = 30_000;
/** A client pauses so many ms after a refusal, and a reader after an answer. */
const PAUSE = 20;
const BREATH = 5;
/** A revoked key is used for so many ms after it should be refused. */
const AFTERMATH = 1600;

interface Answer {
  readonly start: number;
  readonly end: number;
  readonly server: string;
  readonly isReplica?: boolean;
  readonly status: number;
  readonly headers: Headers;
  readonly json: unknown;
}

/** Tells if an operation added a pet. */
export const isAdded = (each: Operation): boolean =>
  each.kind === "create" && each.outcome === "added";

/** Uses servers until it is told to stop. */
export class Recorder {
  /** In the order in which the operations ended. */
  readonly history: Operation[] = [];
  /** The longest that an answer took, in ms. */
  longest = 0;
  readonly #targets: readonly Target[];
  readonly #writable: readonly Target[];
  readonly #keys: Keys;
  readonly #random: (below: number) => number;
  readonly #bodies = new Map<string, string>();
  readonly #clients: readonly Promise<void>[];
  #greatest = 0;
  #names = 0;
  #acknowledged = 0;
  #quiet: "new" | "all" | undefined;
  #isOver = false;
  #failure: unknown;

  /** Begins. `random` gives an integer from 0. */
  constructor(
    targets: readonly Target[],
    keys: Keys,
    random: (below: number) => number,
  ) {
    this.#targets = targets;
    this.#writable = targets.filter(({ isReplica }) => !isReplica);
    this.#keys = keys;
    this.#random = random;
    const begin = (count: number, newClient: () => () => Promise<unknown>) =>
      Array.from({ length: count }, () => this.#repeat(newClient()));
    this.#clients = [
      ...begin(CLIENTS.writers, () => () => this.#write()),
      ...begin(CLIENTS.repeaters, () => () => this.#useIdempotencyKey()),
      ...begin(CLIENTS.readers, () => this.#reader()),
      ...begin(CLIENTS.keyUsers, () => () => this.#useApiKey()),
    ];
  }

  /** Adds what runs as a failover to the history. */
  async failover(work: () => Promise<void>): Promise<void> {
    const start = performance.now();
    try {
      await work();
    } finally {
      const times = { server: "all", start, end: performance.now() };
      this.history.push({ kind: "failover", ...times });
    }
  }

  /** Waits until so many more pets are acknowledged. */
  async more(count: number): Promise<void> {
    const enough = this.#acknowledged + count;
    await this.#wait("pets are added", () => this.#acknowledged >= enough);
  }

  /** Waits until an operation that begins after this call has ended and fits. */
  async until(
    isSo: (operation: Operation) => boolean,
    timeout?: number,
  ): Promise<void> {
    const since = performance.now();
    let seen = this.history.length;
    await this.#wait(`${isSo}`, () => {
      const latest = this.history.slice(seen);
      seen += latest.length;
      return latest.some((each) => each.start > since && isSo(each));
    }, timeout);
  }

  /** Waits until each server that accepts creates adds a pet. */
  async untilEachAdds(): Promise<void> {
    await Promise.all(
      this.#writable.map(({ name }) =>
        this.until((each) => isAdded(each) && each.server === name)
      ),
    );
  }

  /** Waits until it is so; rejects if a client fails before, or it takes too long. */
  async #wait(
    what: string,
    isSo: () => boolean,
    timeout?: number,
  ): Promise<void> {
    await until(what, () => {
      if (this.#failure !== undefined) throw this.#failure;
      return isSo();
    }, timeout);
  }

  /** Holds back new creates while `work` goes on, or `all`: also those to be sent again. */
  async quietly(
    what: "new" | "all",
    work: () => Promise<void>,
  ): Promise<void> {
    this.#quiet = what;
    try {
      await work();
    } finally {
      this.#quiet = undefined;
    }
  }

  /** Ends all clients, and lists every pet at every server. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#clients);
    if (this.#failure !== undefined) throw this.#failure;
    for (const target of this.#targets) {
      let deadline = performance.now() + 10_000;
      for (let after = 0, isOver = false; !isOver;) {
        const page = await this.#page(target, after, 100);
        if (page !== undefined) deadline = performance.now() + 10_000;
        assert.ok(performance.now() < deadline, `${target.name} is gone`);
        after = page?.pets.at(-1)?.id ?? after;
        isOver = page?.hasNext === false;
      }
    }
  }

  /** Ends all clients, whatever they wait for. */
  abandon(): void {
    this.#isOver = true;
    this.#failure ??= new Error("The test is over");
  }

  async #repeat(work: () => Promise<unknown>): Promise<void> {
    try {
      while (!this.#isOver) await work();
    } catch (error) {
      this.#failure ??= error;
    }
  }

  async #write(): Promise<void> {
    if (this.#quiet) return await pause(PAUSE);
    const { outcome } = await this.#create(this.#newBody());
    if (outcome !== "added") await pause(PAUSE);
  }

  /** Sends a create again and again until it is answered; some from several clients at once. */
  async #useIdempotencyKey(): Promise<void> {
    if (this.#quiet) return await pause(PAUSE);
    const body = this.#newBody();
    const key = `key-${this.#names}`;
    const untilAnswered = async (body: string): Promise<void> => {
      while (this.#failure === undefined) {
        while (this.#quiet === "all") await pause(PAUSE);
        const { outcome } = await this.#create(body, key);
        if (outcome !== "unknown" && outcome !== "refused") return;
        await pause(PAUSE);
      }
    };
    const racers = [1, 1, 1, 3][this.#random(4)];
    const rival = this.#random(10) === 0 ? [this.#newBody()] : [];
    const bodies = [...Array<string>(racers ?? 1).fill(body), ...rival];
    await Promise.all(bodies.map(untilAnswered));
    if (bodies.length > 1) await untilAnswered(body);
  }

  /** Reads pets that are there or not yet, pages anywhere, and walks that turn to any server. */
  #reader(): () => Promise<unknown> {
    let after = 0;
    const below = (range: number) =>
      Math.max(0, this.#greatest + 2 - this.#random(range));
    return async () => {
      const target = this.#any(this.#targets);
      const which = this.#random(6);
      let answer: unknown;
      if (which === 0) answer = await this.#get(target, below(4));
      else if (which === 1) answer = await this.#get(target, below(1000));
      else if (which < 4) {
        const status = [undefined, ...PET_STATUSES][this.#random(6)];
        const limit = 1 + this.#random(20);
        answer = await this.#page(target, below(40), limit, status);
      } else {
        const page = await this.#page(target, after, 100);
        after = page?.pets.at(-1)?.id ?? after;
        if (page && !page.hasNext && this.#random(20) === 0) after = 0;
        answer = page;
      }
      await pause(answer === undefined ? PAUSE : BREATH);
    };
  }

  /** Issues a key, uses it, revokes it, and keeps using it for longer than it may work. */
  async #useApiKey(): Promise<void> {
    const server = "the database";
    let start = performance.now();
    const issued = await this.#keys.issue("test").catch(() => undefined);
    if (issued === undefined) return await pause(PAUSE);
    const { key: apiKey, record } = issued;
    const end = performance.now();
    this.history.push({ kind: "issue", apiKey, server, start, end });
    let isOver = false;
    const users = this.#writable.map(async (target) => {
      while (!isOver) {
        const answer = await this.#send(target, "/pets?limit=1", { apiKey });
        if (answer !== undefined) {
          const { start, end, server, status } = answer;
          const kind = status === 401 ? "unauthorized" : "accepted";
          this.history.push({ kind, apiKey, start, end, server });
        }
        await pause(2 * PAUSE);
      }
    });
    await pause(200 + this.#random(800));
    start = performance.now();
    let isRevoked = false;
    while (!isRevoked && this.#failure === undefined) {
      isRevoked = await this.#keys.revoke(record.id).then(
        () => true,
        () => pause(PAUSE, false),
      );
    }
    if (isRevoked) {
      const end = performance.now();
      this.history.push({ kind: "revoke", apiKey, server, start, end });
    }
    await pause(AFTERMATH);
    isOver = true;
    await Promise.all(users);
  }

  async #create(body: string, key?: string): Promise<Create> {
    const target = this.#any(this.#writable);
    const start = performance.now();
    const answer = await this.#send(target, "/pets", { body, key });
    const { status, headers, json } = answer ?? {};
    const seen = status === 201 ? this.#toSeen(json) : undefined;
    const outcome = status === 201
      ? headers?.has("idempotent-replayed") ? "replayed" : "added"
      : status === 422
      ? "reused"
      : headers?.has("retry-after")
      ? "refused"
      : "unknown";
    const create: Create = {
      ...{ kind: "create", body, outcome, server: target.name },
      ...{ start, end: performance.now() },
      ...key !== undefined && { key },
      ...seen && { seen },
    };
    this.history.push(create);
    if (outcome === "added") this.#acknowledged++;
    return create;
  }

  async #get(target: Target, id: number): Promise<Operation | undefined> {
    const answer = await this.#send(target, `/pets/${id}`);
    if (answer === undefined) return undefined;
    const { status, json, headers: _, ...where } = answer;
    const seen = status === 200 ? this.#toSeen(json) : undefined;
    const get: Operation = { kind: "get", id, ...where, ...seen && { seen } };
    this.history.push(get);
    return get;
  }

  async #page(
    target: Target,
    after: number,
    limit: number,
    status?: PetStatus,
  ): Promise<Page | undefined> {
    const filter = status === undefined ? "" : `&status=${status}`;
    const query = `?limit=${limit}&after=${after}${filter}`;
    const answer = await this.#send(target, `/pets${query}`);
    if (answer === undefined) return undefined;
    const { start, end, server, isReplica, headers, json } = answer;
    const page: Page = {
      ...{ kind: "page", after, limit, start, end, server },
      ...isReplica && { isReplica },
      ...status !== undefined && { status },
      pets: (json as readonly unknown[]).map((pet) => this.#toSeen(pet)),
      hasNext: headers.has("link"),
    };
    this.history.push(page);
    return page;
  }

  /** Sends a request; `undefined` if there is no answer, or a 503 to a read. */
  async #send(
    { name, origin, isReplica }: Target,
    path: string,
    { body, key, apiKey = FIXED_KEY }: {
      readonly body?: string;
      readonly key?: string | undefined;
      readonly apiKey?: string;
    } = {},
  ): Promise<Answer | undefined> {
    const start = performance.now();
    let status, headers, text;
    try {
      const response = await fetch(`${origin}/v1${path}`, {
        headers: {
          authorization: `Bearer ${apiKey}`,
          ...body !== undefined && { "content-type": "application/json" },
          ...key !== undefined && { "idempotency-key": `"${key}"` },
        },
        ...body !== undefined && { method: "POST", body },
        signal: AbortSignal.timeout(key === undefined ? PATIENCE : IMPATIENCE),
      });
      ({ status, headers } = response);
      text = await response.text();
    } catch {
      return undefined; // a server was killed, or is frozen
    }
    const end = performance.now();
    this.longest = Math.max(this.longest, end - start);
    const allowed = body === undefined
      ? [200, apiKey === FIXED_KEY ? 404 : 401, 503]
      : [201, key === undefined ? 503 : 422, 503];
    assert.ok(allowed.includes(status), `${path}: ${status} ${text}`);
    if (status === 503 && body === undefined) {
      assert.ok(headers.has("retry-after"), "a read changes nothing");
      return undefined;
    }
    return {
      ...{ start, end, server: name, status, headers, json: JSON.parse(text) },
      ...isReplica && { isReplica },
    };
  }

  #any(targets: readonly Target[]): Target {
    const target = targets[this.#random(targets.length)];
    assert.ok(target);
    return target;
  }

  #newBody(): string {
    const categoryId = ++this.#names;
    const status = PET_STATUSES[this.#random(3)];
    return this.#keep(
      JSON.stringify({ name: `Rex ${categoryId}`, categoryId, status }),
    );
  }

  #toSeen(json: unknown): Seen {
    const { id, name, categoryId, status } = json as Record<string, unknown>;
    assert.ok(typeof id === "number", JSON.stringify(json));
    this.#greatest = Math.max(this.#greatest, id);
    return {
      id,
      body: this.#keep(JSON.stringify({ name, categoryId, status })),
    };
  }

  /** Keeps one text of many that are equal. */
  #keep(body: string): string {
    const kept = this.#bodies.get(body) ?? body;
    this.#bodies.set(body, kept);
    return kept;
  }
}
