// The pets of both frameworks, in the database of `DATABASE_URL`, through the driver of `STORE`.
import process from "node:process";
import type { NewPet, Pet, PetStatus } from "./pet.ts";
import type { Store } from "./stores/store.ts";

const { STORE, DATABASE_URL } = process.env;
const store: Store = (await import(`./stores/${STORE}.ts`)).open(DATABASE_URL);

export interface PageQuery {
  readonly limit: number;
  readonly status?: PetStatus | undefined;
  readonly after?: number | undefined;
}

/** A page, and the `Link` of the next one (RFC 8288) when there are more. */
export interface Page {
  readonly pets: readonly Pet[];
  readonly link?: string;
}

export async function create(pet: NewPet): Promise<Pet> {
  return await store.create(
    pet.name,
    pet.categoryId,
    pet.status ?? "available",
  );
}

export async function get(id: number): Promise<Pet | undefined> {
  return await store.get(id);
}

export async function list(query: PageQuery): Promise<Page> {
  const { limit, status, after = 0 } = query;
  const pets = status === undefined
    ? await store.list(after, limit + 1)
    : await store.listByStatus(status, after, limit + 1);
  if (pets.length <= limit) return { pets };
  pets.pop();
  const only = status === undefined ? "" : `&status=${status}`;
  const next = `limit=${limit}${only}&after=${pets.at(-1)?.id}`;
  return { pets, link: `<?${next}>; rel="next"` };
}
