/** Laws of paging (decision: promise of a walk), over HTTP, as a client walks: by `Link` alone. */
import assert from "node:assert/strict";
import test from "node:test";
import { ask, linked, type OpenService } from "../contract/ask.ts";
import { handleService } from "../contract/handle_service.ts";
import { fc } from "../support/property.ts";

type Status = "available" | "pending" | "sold";

const status = fc.constantFrom<Status[]>("available", "pending", "sold");
const statuses = fc.array(status, { maxLength: 30 });
const filter = fc.option(status, { nil: undefined });
const limit = fc.oneof(
  { arbitrary: fc.integer({ min: 1, max: 8 }), weight: 3 },
  fc.integer({ min: 1, max: 100 }),
  fc.constant(undefined),
);

/** Adds an animal, and tells its id. */
async function add(service: OpenService, status: Status): Promise<number> {
  const body = `{"name":"Rex","categoryId":1,"status":"${status}"}`;
  const answer = await ask(service, "POST", "/pets", { body });
  assert.equal(answer.status, 201);
  return JSON.parse(answer.text).id;
}

/** The ids of a walk, page by page; `between` runs while a page is on its way. */
async function walk(
  service: OpenService,
  query: {
    readonly limit: number | undefined;
    readonly status: Status | undefined;
  },
  between: () => Promise<void> = () => Promise.resolve(),
): Promise<number[][]> {
  const parameters = new URLSearchParams();
  if (query.limit !== undefined) parameters.set("limit", `${query.limit}`);
  if (query.status !== undefined) parameters.set("status", query.status);
  const pages: number[][] = [];
  let address: string | undefined = `${service.base}/pets?${parameters}`;
  while (address !== undefined) {
    const from: string = address;
    const [answer] = await Promise.all([ask(service, "GET", from), between()]);
    assert.equal(answer.status, 200);
    const page: { id: number; status: Status }[] = JSON.parse(answer.text);
    for (const pet of page) {
      assert.equal(pet.status, query.status ?? pet.status);
    }
    pages.push(page.map(({ id }) => id));
    assert.ok(pages.length <= 100, "a walk ends");
    address = linked(answer, { rel: "next", from });
    assert.equal(address !== undefined, answer.headers.has("link"));
  }
  return pages;
}

/** The ids of the animals that match, in a world where the first one is 1. */
function matching(
  all: readonly Status[],
  filter: Status | undefined,
): number[] {
  return all.flatMap((status, index) =>
    filter === undefined || status === filter ? [index + 1] : []
  );
}

// Law: the pages joined are the filter of all; every page but the last is full, and none but the
// page of an empty listing is empty.
test("a walk is the filter of all, in full pages", async () => {
  await fc.assert(fc.asyncProperty(
    statuses,
    limit,
    filter,
    async (all, limit, filter) => {
      const service = handleService();
      for (const status of all) await add(service, status);
      const pages = await walk(service, { limit, status: filter });
      const expected = matching(all, filter);
      assert.deepEqual(pages.flat(), expected);
      const size = limit ?? 20;
      for (const page of pages.slice(0, -1)) assert.equal(page.length, size);
      assert.equal(
        pages.length,
        Math.max(1, Math.ceil(expected.length / size)),
      );
    },
  ));
});

// Law: while animals are added during a walk, it sees those that existed when it began exactly once
// and in order, and of the later ones a run without a gap.
test("a walk during creates sees every earlier animal once, and later ones in order", async () => {
  await fc.assert(fc.asyncProperty(
    statuses,
    statuses,
    fc.integer({ min: 1, max: 8 }),
    filter,
    fc.nat(3),
    async (before, later, limit, filter, burst) => {
      const service = handleService();
      for (const status of before) await add(service, status);
      const waiting = [...later];
      const all = [...before];
      const pages = await walk(service, { limit, status: filter }, async () => {
        // Who is sent first need not be added first: the answers tell.
        const next = waiting.splice(0, burst);
        await Promise.all(next.map(async (status) => {
          all[await add(service, status) - 1] = status;
        }));
      });
      const seen = pages.flat();
      const expected = matching(all, filter);
      assert.deepEqual(seen, expected.slice(0, seen.length));
      assert.ok(seen.length >= matching(before, filter).length);
    },
  ));
});

// Law: a walk may begin anywhere: after=x is the walk without what is up to x.
test("after is where a walk begins, wherever that is", async () => {
  const anywhere = fc.oneof(
    fc.bigInt({ min: -3n, max: 35n }),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  );
  await fc.assert(fc.asyncProperty(
    statuses,
    filter,
    anywhere,
    async (all, filter, after) => {
      const service = handleService();
      for (const status of all) await add(service, status);
      const query = filter === undefined ? "" : `&status=${filter}`;
      const answer = await ask(
        service,
        "GET",
        `/pets?limit=100&after=${after}${query}`,
      );
      const pets: { id: number }[] = JSON.parse(answer.text);
      assert.deepEqual(
        pets.map(({ id }) => id),
        matching(all, filter).filter((id) => BigInt(id) > after),
      );
    },
  ));
});
