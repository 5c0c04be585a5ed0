/** Clauses of the contract over HTTP, which tests and the judge run; and the client that they get, for any pet store. */

import assert from "node:assert/strict";
import { type Answer, ask, type OpenService, type Question } from "./ask.ts";
import { assertJson } from "./error_reply.ts";

/** The members of a pet that the interface names, exact to the last digit. */
export interface Pet {
  readonly id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  readonly status?: string;
}

/** Header fields by name; `undefined` leaves one out, such as the key in `authorization`. */
type Fields = NonNullable<Question["headers"]>;

/** The most pages that are searched for a pet. */
const MOST_PAGES = 50;

/** Thrown by a check that cannot see what it needs to see; a test that meets it fails. */
export class Unseen extends Error {}

/** Sends requests with the key of a service. Paths are below its base address: `/pets`. */
export class PetsClient {
  readonly #service: OpenService;

  constructor(service: OpenService) {
    this.#service = service;
  }

  /** The base address, which ends in `/v1`. */
  get base(): string {
    return this.#service.base;
  }

  /** The API key. */
  get key(): string {
    return this.#service.key;
  }

  /** The runtime of the service, if it is known. */
  get runtime(): OpenService["runtime"] {
    return this.#service.runtime;
  }

  /** The category of the pets that are added. */
  get categoryId(): bigint {
    return this.#service.categoryId ?? 1n;
  }

  /** Tells the judge what is sent or received in another way than through this client. */
  report(message: string | Answer): void {
    this.#service.seen?.(message);
  }

  /** Sends any request. */
  send(method: string, path: string, question?: Question): Promise<Answer> {
    return ask(this.#service, method, path, question);
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

  /** The body of a create: a new name and a category, unless the members say otherwise. */
  petJson(members: Readonly<Record<string, unknown>> = {}): string {
    const all = { name: newName(), categoryId: this.categoryId, ...members };
    const texts = Object.entries(all).map(([name, value]) =>
      `"${name}":${typeof value === "bigint" ? value : JSON.stringify(value)}`
    );
    return `{${texts}}`;
  }

  /** The body of a create with one member whose value is spelled in JSON. */
  petWith(member: string, value: string): string {
    return this.petJson({ [member]: "@" }).replace('"@"', () => value);
  }

  /** Adds a pet. */
  async addPet(members: Readonly<Record<string, unknown>> = {}): Promise<Pet> {
    return petIn(await this.post(this.petJson(members)), 201);
  }

  /** Adds pets, one after another. */
  async addPets(count: number, members: object = {}): Promise<Pet[]> {
    const pets: Pet[] = [];
    while (pets.length < count) pets.push(await this.addPet({ ...members }));
    return pets;
  }

  /** Gets a pet, which must exist. */
  async getPet(id: bigint): Promise<Pet> {
    return petIn(await this.get(`/pets/${id}`), 200);
  }

  /** Lists a page of pets. */
  async listPets(query = ""): Promise<readonly Pet[]> {
    return petsIn(await this.get(`/pets${query}`));
  }

  /** Lists the ids of a page. */
  async listIds(query = ""): Promise<bigint[]> {
    return (await this.listPets(query)).map(({ id }) => id);
  }

  /**
   * Finds all pets with one of these names, in the order of the listing. `query` can filter: `&status=sold`.
   *
   * @throws {Unseen} if one is missing, and the listing cannot be followed to its end.
   */
  async findPets(
    names: string | readonly string[],
    query = "",
  ): Promise<readonly Pet[]> {
    const { mark } = this.#service;
    const start = `${this.base}/pets?limit=100${query}`;
    const after = (id: bigint) => `${start}&after=${id}`;
    let address = mark === undefined ? start : after(mark);
    const wanted = [names].flat();
    const found: Pet[] = [];
    const earlier = new Set<bigint | string>();
    for (let i = 0; i < MOST_PAGES; i++) {
      earlier.add(address);
      const answer = await this.get(address);
      if (i > 0 && answer.status !== 200) break; // the interface shows no links
      const page = petsIn(answer);
      found.push(
        ...page.filter(({ id, name }) =>
          wanted.includes(name) && !earlier.has(id)
        ),
      );
      for (const { id } of page) earlier.add(id);
      const last = page.at(-1);
      const next = nextPage(answer, address);
      if (next !== undefined && earlier.has(next)) break;
      else if (next !== undefined) address = next;
      else if (page.length < 100 || last === undefined) return found;
      else if (mark !== undefined) address = after(last.id);
      else if (i > 0) return found; // a store that linked this page would link the next
      else break;
    }
    const missing = wanted.filter((name) =>
      !found.some((pet) => pet.name === name)
    );
    if (missing.length === 0) return found;
    throw new Unseen("the listing has too many pets, or no next page");
  }

  /** Asserts that there is no pet with a name, as far as the listing shows. */
  async assertNotAdded(name: string): Promise<void> {
    try {
      assert.deepEqual(await this.findPets(name), [], "a pet was added");
    } catch (error) {
      if (!(error instanceof Unseen)) throw error;
    }
  }
}

/** A name that no other pet has: letters only, which any store should take. */
export function newName(): string {
  const letters = crypto.getRandomValues(new Uint8Array(9));
  return `Rex${String.fromCharCode(...letters.map((byte) => 97 + byte % 26))}`;
}

/** The pet of an answer, which must have this status and members of the right types. */
export function petIn(answer: Answer, status: number): Pet {
  assert.equal(answer.status, status, answer.text);
  assertJson(answer);
  const pet = named(readExactly(answer.text));
  assert.equal(typeof pet?.id, "bigint", "id is not an integer");
  assert.equal(typeof pet.name, "string", "name is not a string");
  assert.equal(typeof pet.categoryId, "bigint", "categoryId is no integer");
  const { status: state = "sold" } = pet;
  assert.match(state, /^(?:available|pending|sold)$/, `status ${state}`);
  return pet;
}

/** The pets of a page. They are not checked: others may have added odd ones. */
export function petsIn(answer: Answer): readonly Pet[] {
  assert.equal(answer.status, 200, answer.text);
  assertJson(answer);
  const pets = readExactly(answer.text);
  assert.ok(Array.isArray(pets), "the body is not an array");
  return pets.map(named);
}

/** The members that the interface names: a store may have more. */
function named(value: unknown): Pet {
  const { id, name, categoryId, status } = Object(value) as Pet; // checked by petIn()
  const pet = { id, name, categoryId };
  return status === undefined ? pet : { ...pet, status };
}

/** The address of the next page (RFC 8288), if its origin and path are the same: the key goes nowhere else. */
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
    if (there.origin !== here.origin) return undefined;
    return there.pathname === here.pathname ? there.href : undefined;
  }
  return undefined;
}

/** Reads JSON with every integer as a bigint. */
function readExactly(text: string): unknown {
  return JSON.parse(
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

/** Options of the service that a clause may ask for. */
export interface ServerLimits {
  readonly maxBodyBytes?: number;
  readonly bodyTimeout?: number;
}

/** Rejects if a promise is broken. The store need not be empty, but nobody else may add pets meanwhile. */
export type Check = (client: PetsClient) => Promise<void>;

/** A check with conditions. */
export interface Clause {
  readonly check: Check;
  /** Settings of the tests, which make the clause quick or sharp. */
  readonly limits?: ServerLimits;
  /** Why the judge cannot see whether a service that somebody else started keeps the promise. */
  readonly outside?: string;
}

/** Checks, each under the sentence that it checks. */
export type Clauses = Readonly<Record<string, Check | Clause>>;
