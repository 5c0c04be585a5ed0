/** Sample pets for the contracts, and functions that add and find them. */

import assert from "node:assert/strict";
import { checkNewPet } from "../../../core/pets/new_pet.ts";
import type {
  CheckedPet,
  Pet,
  PetId,
  PetStatus,
} from "../../../core/pets/pet.ts";
import type { PageRequest } from "../../../core/pets/page.ts";
import type { PetStorage } from "../../../core/pets/pet_storage.ts";
import { assertSame } from "./assertions.ts";

/** The statuses of pets. */
export const STATUSES: readonly PetStatus[] = ["available", "pending", "sold"];

/** Names that something on the way to the disk and back might change. */
export const DELICATE_NAMES: readonly string[] = [
  "e\u0301", // a combining mark, which must not be normalised to U+00E9
  "\u00e9",
  "\ufeffRex", // a byte order mark is a character of the name
  "line\u2028separator\u2029",
  'it\'s "Rex"; DROP TABLE pets; --\\ `$1` ? :name %s {}',
  "\u{1f415}".repeat(255),
  "a".repeat(255),
  " Rex ",
  "null",
  "007",
  "1e3",
  "\u200d\u202e", // a joiner and a right-to-left override
  "\u0080\u009f\ufffd\uffff\u{10ffff}",
];

/** Integers that something on the way to the disk and back might change. */
const DELICATE_INTEGERS = [
  -(2n ** 63n),
  -(2n ** 53n) - 1n,
  -1n,
  0n,
  2n ** 53n + 1n,
  2n ** 63n - 1n,
];

/** A pet to add. */
export const REX: CheckedPet = checkNewPet({ name: "Rex", categoryId: 1n });

/** Pets that must each be kept exactly, by what is special about them. */
export const DELICATE_PETS: Readonly<Record<string, readonly CheckedPet[]>> = {
  "a delicate name exactly": DELICATE_NAMES.map((name) => ({ ...REX, name })),
  "any int64 exactly": DELICATE_INTEGERS
    .map((categoryId) => ({ ...REX, categoryId })),
  "each status": STATUSES.map((status) => ({ ...REX, status })),
};

/** Makes a different idempotency key for each number, in the form that the service uses. */
export function key(number: number): { readonly idempotencyKey: string } {
  return { idempotencyKey: number.toString(16).padStart(64, "0") };
}

/** Makes a different pet to add for each number. The statuses alternate. */
export function samplePet(number: number): CheckedPet {
  const status = STATUSES[number % STATUSES.length];
  const categoryId = BigInt(number);
  return checkNewPet({ name: `Pet ${number}`, categoryId, status });
}

/** Adds a pet, and asserts that it is returned as given. */
export async function create(
  storage: PetStorage,
  given: CheckedPet,
  options?: Parameters<PetStorage["create"]>[1],
): Promise<Pet> {
  return assertCreated(await storage.create(given, options), given);
}

/** Asserts that create returned the pet it was given. */
export function assertCreated(returned: Pet, given: CheckedPet): Pet {
  const pet = plain(returned);
  assertSame(pet, { id: pet.id, ...given }, "what create returned");
  return pet;
}

/** Adds sample pets one after the other. */
export async function createSamples(
  storage: PetStorage,
  count: number,
): Promise<readonly Pet[]> {
  const pets: Pet[] = [];
  for (let number = 0; number < count; number++) {
    pets.push(await create(storage, samplePet(number)));
  }
  return pets;
}

/** Adds sample pets all at once. */
export function createAtOnce(
  storage: PetStorage,
  count: number,
): Promise<readonly Pet[]> {
  return Promise.all(
    Array.from({ length: count }, (_, i) => create(storage, samplePet(i))),
  );
}

/** Asserts that get and list, with and without the status, find this pet. */
export async function assertFound(
  storage: PetStorage,
  pet: Pet,
): Promise<void> {
  const found = await storage.get(pet.id);
  assertSame(
    found && plain(found),
    pet,
    `get(${pet.id})`,
  );
  for (const filter of [{}, { status: pet.status }]) {
    const query = { limit: 1, after: pet.id - 1n, ...filter };
    await assertListed(storage, query, [pet]);
  }
}

/** Asserts that list returns these pets. */
export async function assertListed(
  storage: PetStorage,
  query: PageRequest,
  expected: readonly Pet[],
): Promise<void> {
  const { pets } = await storage.list(query);
  assertSame(pets.map(plain), expected, `the pets of ${listCall(query)}`);
}

/** A call of list, for messages. */
export function listCall({ limit, after, status }: PageRequest): string {
  return `list({ limit: ${limit}, after: ${after}, status: ${status} })`;
}

/** Returns the members of a pet that the service reads, to compare them. */
export function plain(
  { id, name, categoryId, status, replayed }: Pet & { replayed?: true },
): Pet & { readonly replayed?: true } {
  const pet = { id, name, categoryId, status };
  return replayed === undefined ? pet : { ...pet, replayed };
}

/** Sorts {@linkcode plain} pets by id. */
export function byId(pets: readonly Pet[]): readonly Pet[] {
  return pets.map(plain).sort((a, b) => a.id < b.id ? -1 : 1);
}

/** Tries to change an object, which may be frozen. */
export function change(object: object | undefined): void {
  try {
    Object.assign(object ?? {}, { name: "Changed", last: 9n });
  } catch (error) {
    assert.ok(error instanceof TypeError, `${error}`); // it is frozen
  }
}

/** The ids of pets. */
export function idsOf(pets: readonly Pet[]): readonly PetId[] {
  return pets.map(({ id }) => id);
}
