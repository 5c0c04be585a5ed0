/** The pets that a clause adds, under names of its own, and finds again among any others. */

import assert from "node:assert/strict";
import { type Answer, ask, type OpenService, type Question } from "./ask.ts";
import { Unseen } from "./clause.ts";
import { assertJson } from "./error_reply.ts";

/** A pet as it is answered, exact to the last digit. */
export interface Pet {
  readonly id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  readonly status?: string;
}

/** A name that no other pet has. */
export function newName(): string {
  return `Rex ${crypto.randomUUID()}`;
}

/** The body of a create: a new name and category 1, unless the members say otherwise. */
export function bodyOf(members: object = {}): string {
  return JSON.stringify({ name: newName(), categoryId: 1, ...members });
}

/** `GET`, with the key. */
export function get(
  service: OpenService,
  address: string,
  question: Question = {},
): Promise<Answer> {
  return ask(service, "GET", address, question);
}

/** Sends a create, whatever comes of it. */
export function create(
  service: OpenService,
  body: NonNullable<Question["body"]>,
  headers: Question["headers"] = {},
): Promise<Answer> {
  return ask(service, "POST", "/pets", { body, headers });
}

/** Adds a pet. */
export async function add(service: OpenService, members = {}): Promise<Pet> {
  return petIn(await create(service, bodyOf(members)), 201);
}

/** Adds pets, one after another. */
export async function addAll(
  service: OpenService,
  all: readonly object[],
): Promise<Pet[]> {
  const added: Pet[] = [];
  for (const members of all) added.push(await add(service, members));
  return added;
}

/** The pet at an id. */
export async function petAt(service: OpenService, id: bigint): Promise<Pet> {
  return petIn(await get(service, `/pets/${id}`), 200);
}

/** The ids of a page. */
export async function ids(service: OpenService, query = ""): Promise<bigint[]> {
  return petsIn(await get(service, `/pets${query}`)).map(({ id }) => id);
}

/** The pet of an answer, which has this status, with members of the right types. */
export function petIn(answer: Answer, status: number): Pet {
  assert.equal(answer.status, status, answer.text);
  assertJson(answer);
  const pet = readExactly(answer.text) as Pet; // checked below
  assert.equal(typeof pet?.id, "bigint", "id is no integer");
  assert.equal(typeof pet.name, "string", "name is no string");
  assert.equal(typeof pet.categoryId, "bigint", "categoryId is no integer");
  const { status: state = "sold" } = pet;
  assert.ok(/^(?:available|pending|sold)$/.test(state), `status ${state}`);
  return pet;
}

/** The pets of a page, which are not looked at: some may be odd. */
export function petsIn(answer: Answer): readonly Pet[] {
  assert.equal(answer.status, 200, answer.text);
  assertJson(answer);
  const pets = readExactly(answer.text);
  assert.ok(Array.isArray(pets), "the body is no array");
  return pets;
}

/** All pets with a name, and with what the query asks for (`&status=sold`), in the order of the listing. */
export async function named(
  service: OpenService,
  name: string,
  query = "",
): Promise<readonly Pet[]> {
  const found: Pet[] = [];
  for (let after = service.mark;;) {
    const start = after === undefined ? "" : `&after=${after}`;
    const page = petsIn(await get(service, `/pets?limit=100${start}${query}`));
    for (const { id } of page) {
      if (after === undefined || id > after) continue;
      throw new Unseen("the listing has 100 pets, and no page after an id");
    }
    found.push(...page.filter((pet) => pet.name === name));
    if (page.length < 100) return found;
    after = page.at(-1)?.id;
  }
}

/** Reads JSON with every integer as a bigint. */
function readExactly(text: string): unknown {
  return JSON.parse(
    text,
    // The third argument has no type in TypeScript yet.
    (_name, value: unknown, context?: { readonly source?: string }) =>
      Number.isInteger(value)
        ? BigInt(/^-?\d+$/.exec(context?.source ?? "")?.[0] ?? Number(value))
        : value,
  );
}
