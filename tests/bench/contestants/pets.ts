/**
 * The animals of every contestant but ours, in memory: plain objects in an array, the ids of each
 * status in order. Ids are numbers, as nearly everybody has them.
 *
 * @module
 */

export type PetStatus = "available" | "pending" | "sold";

export interface NewPet {
  readonly name: string;
  readonly categoryId: number;
  readonly status?: PetStatus | undefined;
}

export interface Pet {
  readonly id: number;
  readonly name: string;
  readonly categoryId: number;
  readonly status: PetStatus;
}

/** Which page of animals is wanted. */
export interface PageQuery {
  readonly limit: number;
  readonly status?: PetStatus | undefined;
  readonly after?: number | undefined;
}

export interface Page {
  readonly pets: readonly Pet[];
  /** The `Link` of the next page (RFC 8288); `undefined` on the last one. */
  readonly link: string | undefined;
}

const pets: Pet[] = [];
const idsByStatus: Readonly<Record<PetStatus, number[]>> = {
  available: [],
  pending: [],
  sold: [],
};

export function createPet(
  { name, categoryId, status = "available" }: NewPet,
): Pet {
  const pet = { id: pets.length + 1, name, categoryId, status };
  pets.push(pet);
  idsByStatus[status].push(pet.id);
  return pet;
}

export function getPet(id: number): Pet | undefined {
  return pets[id - 1];
}

export function listPets({ limit, status, after = 0 }: PageQuery): Page {
  const start = Math.max(after, 0);
  let page: Pet[];
  let hasMore: boolean;
  if (status === undefined) {
    page = pets.slice(start, start + limit);
    hasMore = pets.length > start + limit;
  } else {
    const ids = idsByStatus[status];
    const from = firstAbove(ids, start);
    page = ids.slice(from, from + limit).map((id) => pets[id - 1] as Pet);
    hasMore = ids.length > from + limit;
  }
  const last = page.at(-1);
  if (!hasMore || last === undefined) return { pets: page, link: undefined };
  const query = `limit=${limit}${
    status === undefined ? "" : `&status=${status}`
  }&after=${last.id}`;
  return { pets: page, link: `<?${query}>; rel="next"` };
}

/** The index of the first of ascending ids that is above `id`. */
function firstAbove(ids: readonly number[], id: number): number {
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ids[middle] ?? Infinity) <= id) low = middle + 1;
    else high = middle;
  }
  return low;
}
