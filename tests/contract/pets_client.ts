/**
 * The types of clauses, which tests and the judge run, and the client that clauses use, for any pet
 * store.
 */

import assert from "node:assert/strict";
import {
  type Answer,
  ask,
  type OpenService,
  type Pet,
  type Question,
} from "./ask.ts";
import { assertJson, readJson } from "./error_reply.ts";

/** Header fields by name; `undefined` omits one, such as the key in `authorization`. */
type Fields = NonNullable<Question["headers"]>;

/** How many pages are searched for a pet. */
const MOST_PAGES = 100;

/** Thrown by a check that cannot see what it needs; a test fails on it. */
export class Unchecked extends Error {}

/** Sends requests with the key of a service. Paths are below its base address: `/pets`. */
export class PetsClient {
  readonly service: OpenService;
  /** The base address, which ends in `/v1`. */
  readonly base: string;
  readonly key: string;
  /** The category of the pets that are added. */
  readonly categoryId: bigint;
  /** The seed of the values that a clause generates. */
  readonly seed: number;

  constructor(service: OpenService) {
    this.service = service;
    this.base = service.base;
    this.key = service.key;
    this.categoryId = service.categoryId ?? 1n;
    this.seed = service.seed ?? newSeed();
  }

  /** Sends any request. */
  send(method: string, path: string, question?: Question): Promise<Answer> {
    return ask(this.service, method, path, question);
  }

  /** Sends a GET request. */
  get(path: string, headers: Fields = {}): Promise<Answer> {
    return this.send("GET", path, { headers });
  }

  /** Sends a create. */
  post(
    body: NonNullable<Question["body"]>,
    headers: Fields = {},
  ): Promise<Answer> {
    return this.send("POST", "/pets", { body, headers });
  }

  /**
   * Makes the body of a create, with a new name and a category unless the members say otherwise.
   */
  petJson(members: Readonly<Record<string, unknown>> = {}): string {
    const all = { name: newName(), categoryId: this.categoryId, ...members };
    const texts = Object.entries(all).map(([name, value]) =>
      `"${name}":${typeof value === "bigint" ? value : JSON.stringify(value)}`
    );
    return `{${texts}}`;
  }

  /** Makes the body of a create with one member whose value is given as JSON. */
  petWith(member: string, value: string, members: object = {}): string {
    const pet = this.petJson({ ...members, [member]: "@" });
    return pet.replace('"@"', () => value);
  }

  /** Adds a pet, which must be returned as it was sent. */
  addPet(members: Readonly<Record<string, unknown>> = {}): Promise<Pet> {
    const all = { name: newName(), categoryId: this.categoryId, ...members };
    const sent = { ...all, categoryId: BigInt(all.categoryId) };
    return step("createPet", async () => {
      const pet = petIn(await this.post(this.petJson(sent)), 201);
      assert.deepEqual(pet, { ...pet, ...sent }, "the animal is not as sent");
      return pet;
    });
  }

  /** Adds pets, one after another. */
  async addPets(count: number, members: object = {}): Promise<Pet[]> {
    const pets: Pet[] = [];
    while (pets.length < count) pets.push(await this.addPet({ ...members }));
    return pets;
  }

  /** True if getPet is expected to be gone. */
  get isAfterRemoval(): boolean {
    return this.service.isAfterRemoval ?? false;
  }

  /** @throws {Unchecked} if getPet is expected to be gone. */
  needGetPet(): void {
    if (this.isAfterRemoval) throw new Unchecked("getPet is removed");
  }

  /** The path of an answer that has this pet first: that of getPet, or a listing if it is gone. */
  pathTo(id: bigint): string {
    return this.isAfterRemoval
      ? `/pets?limit=1&after=${id - 1n}`
      : `/pets/${id}`;
  }

  /** Gets a pet, which must exist; from the list if getPet is expected to be gone. */
  getPet(id: bigint): Promise<Pet> {
    if (this.isAfterRemoval) return this.#findPet(id);
    return step(
      "getPet",
      async () => petIn(await this.get(`/pets/${id}`), 200),
    );
  }

  /** Lists a page of pets. */
  listPets(query = ""): Promise<readonly Pet[]> {
    return step(
      "listPets",
      async () => petsIn(await this.get(`/pets${query}`)),
    );
  }

  /** Lists the ids of a page. */
  async listIds(query = ""): Promise<bigint[]> {
    return (await this.listPets(query)).map(({ id }) => id);
  }

  /**
   * Follows a listing, whose pages have at most `limit` pets, from page to page until there are
   * `enough` pets.
   */
  async walk(query: string, limit: number, enough = Infinity): Promise<Walk> {
    const pages: (readonly Pet[])[] = [];
    const earlier = new Set<string>();
    let address = `${this.base}/pets${query}`;
    let count = 0;
    while (pages.length < MOST_PAGES && !earlier.has(address)) {
      earlier.add(address);
      const answer = await this.get(address);
      // The interface does not show links.
      if (pages.length > 0 && answer.status !== 200) break;
      const page = await step("listPets", async () => petsIn(answer));
      pages.push(page);
      if ((count += page.length) >= enough) break;
      const next = nextPage(answer, address);
      if (next === undefined) {
        const isWhole = pages.length > 1
          ? await this.#isStable(query, pages[0] ?? [])
          : page.length < limit;
        return { pages, isWhole };
      }
      if (next === ELSEWHERE) break;
      address = next;
    }
    return { pages, isWhole: false };
  }

  /**
   * Tells whether a listing begins with the same pets as before: a store may shuffle them each
   * time.
   */
  async #isStable(query: string, first: readonly Pet[]): Promise<boolean> {
    const again = await this.listIds(query);
    return again.join() === first.map(({ id }) => id).join();
  }

  /**
   * Finds all pets with one of these names, in the order of the listing. `query` can filter: `&status=sold`.
   *
   * @throws {Unchecked} if one is missing, and the listing cannot be followed to its end.
   */
  async findPets(
    names: string | readonly string[],
    query = "",
  ): Promise<readonly Pet[]> {
    const wanted = new Set([names].flat());
    const all = `?limit=100${query}`;
    // A mark only makes this faster, because ids need not ascend.
    for (const start of new Set([this.#afterMark, ""])) {
      const { pages, isWhole } = await this.walk(all + start, 100);
      const found: Pet[] = [];
      const earlier = new Set<bigint>(); // pages may overlap
      for (const page of pages) {
        found.push(
          ...page.filter(({ id, name }) =>
            wanted.has(name) && !earlier.has(id)
          ),
        );
        for (const { id } of page) earlier.add(id);
      }
      const isFound = new Set(found.map(({ name }) => name)).size ===
        wanted.size;
      if (isFound || (isWhole && start === "")) return found;
    }
    throw new Unchecked("the listing has too many pets, or no next page");
  }

  /** Asserts that there is no pet with a name, as far as the listing shows. */
  async assertNotAdded(name: string): Promise<void> {
    const { pages } = await this.walk(`?limit=100${this.#afterMark}`, 100);
    const found = pages.flat().filter((pet) => pet.name === name);
    assert.deepEqual(found, [], "a pet was added");
  }

  /** @throws {Unchecked} if it is not found, and the listing cannot be followed to its end. */
  async #findPet(id: bigint): Promise<Pet> {
    for (const start of new Set([this.#afterMark, ""])) {
      const { pages, isWhole } = await this.walk(`?limit=100${start}`, 100);
      const found = pages.flat().find((pet) => pet.id === id);
      if (found !== undefined) return found;
      if (isWhole && start === "") assert.fail(`the pet ${id} is not listed`);
    }
    throw new Unchecked("the listing has too many pets, or no next page");
  }

  get #afterMark(): string {
    const { mark } = this.service;
    return mark === undefined ? "" : `&after=${mark}`;
  }
}

/** The pages of a listing. */
export interface Walk {
  readonly pages: readonly (readonly Pet[])[];
  /**
   * True if no page can be missing: the last one has no link, and the interface shows no other way.
   */
  readonly isWhole: boolean;
}

/** A promise that, if it is broken, makes clauses about something else fail. */
export type Step = "createPet" | "getPet" | "listPets" | "location";

/** Marks errors of a step that a clause builds on, so that the judge can say what to fix first. */
export async function step<T>(
  step: Step,
  take: () => Promise<T>,
): Promise<T> {
  try {
    return await take();
  } catch (error) {
    throw Object.assign(error instanceof Error ? error : Error(), { step });
  }
}

/** A seed for {@linkcode PetsClient.seed}. */
export function newSeed(): number {
  const [seed = 1] = crypto.getRandomValues(new Uint32Array(1));
  return seed;
}

/** Makes a name that no other pet has, of letters that any store should accept. */
export function newName(): string {
  const letters = crypto.getRandomValues(new Uint8Array(9));
  return `Rex${String.fromCharCode(...letters.map((byte) => 97 + byte % 26))}`;
}

/** Returns the pet of an answer, which must have this status and members of the right types. */
export function petIn(answer: Answer, status: number): Pet {
  assert.equal(answer.status, status, answer.text);
  assertJson(answer);
  const pet = named(readExactly(answer.text));
  assert.ok(typeof pet?.id === "bigint", "id is not an integer");
  assert.ok(pet.id === BigInt.asIntN(64, pet.id), "id is not an int64");
  assert.ok(typeof pet.name === "string", "name is not a string");
  assert.ok(typeof pet.categoryId === "bigint", "categoryId is not an integer");
  const { status: state = "sold" } = pet;
  const words = `status is ${state}, and should be one of the three`;
  assert.match(state, /^(?:available|pending|sold)$/, words);
  return pet;
}

/** Returns the pets of a page, unchecked: others may have added odd ones. */
export function petsIn(answer: Answer): readonly Pet[] {
  assert.equal(answer.status, 200, answer.text);
  assertJson(answer);
  const pets = readExactly(answer.text);
  assert.ok(Array.isArray(pets), "the body is not an array");
  return pets.map(named);
}

/** Returns the members that the interface names; a store may have more. */
function named(value: unknown): Pet {
  const { id, name, categoryId, status } = Object(value) as Pet; // checked by petIn()
  const pet = { id, name, categoryId };
  return status === undefined ? pet : { ...pet, status };
}

/** A link that is not followed, because the key goes to no other origin or path. */
const ELSEWHERE = "";

/** The address of the next page (RFC 8288), if there is one. */
function nextPage(answer: Answer, from: string): string | undefined {
  const links = answer.headers.get("link") ?? "";
  for (
    const [, reference = "", rest] of links.matchAll(/<([^<>]*)>([^<>]*)/g)
  ) {
    const [, quoted, token] =
      /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(rest ?? "") ?? [];
    const relations = (quoted ?? token ?? "").toLowerCase().split(/\s+/);
    if (!relations.includes("next") || !URL.canParse(reference, from)) continue;
    const [there, here] = [new URL(reference, from), new URL(from)];
    const isSame = there.origin === here.origin &&
      there.pathname === here.pathname;
    return isSame ? there.href : ELSEWHERE;
  }
  return undefined;
}

/** Reads JSON with every integer as a bigint. */
export function readExactly(text: string): unknown {
  return readJson(
    text,
    // The third argument has no type in TypeScript yet.
    (_name, value: unknown, context?: { readonly source?: string }) =>
      Number.isInteger(value)
        ? BigInt(
          /^(-?\d+)(?:\.0+)?$/.exec(context?.source ?? "")?.[1] ??
            Number(value),
        )
        : value,
  );
}

/** Options of the service that a clause may require. */
export interface ServerLimits {
  readonly maxBodyBytes?: number;
  readonly bodyTimeout?: number;
}

/**
 * Rejects if a promise is broken. The store need not be empty, but nobody else may add pets at the
 * same time.
 */
export type Check = (client: PetsClient) => Promise<void>;

/** A check with conditions. */
export interface Clause {
  readonly check: Check;
  /** The sentence of the interface that it follows from. */
  readonly says?: string;
  /** Settings of the tests, which make the clause fast or strict. */
  readonly limits?: ServerLimits;
  /** Why the judge cannot check this on a service that it did not start. */
  readonly outside?: string;
}

/** Checks by the sentence that each one checks. */
export type Clauses = Readonly<Record<string, Check | Clause>>;
