/** Law of paging: a walk over HTTP, as a client walks, by `Link` alone. */
import assert from "node:assert/strict";
import test from "node:test";
import { ask, linked, type OpenService } from "../contract/ask.ts";
import { handleService } from "../contract/handle_service.ts";
import { fc } from "../support/property.ts";

type Status = "available" | "pending" | "sold";

const status = fc.constantFrom<Status[]>("available", "pending", "sold");
const statuses = fc.array(status, { maxLength: 30 });
const limit = fc.oneof(
  { arbitrary: fc.integer({ min: 1, max: 8 }), weight: 3 },
  fc.integer({ min: 1, max: 100 }),
  fc.constant(undefined),
);

/** Adds a pet, and returns its id. */
async function add(service: OpenService, status: Status): Promise<number> {
  const body = `{"name":"Rex","categoryId":1,"status":"${status}"}`;
  const answer = await ask(service, "POST", "/pets", { body });
  assert.equal(answer.status, 201);
  return JSON.parse(answer.text).id;
}

/** The ids of a walk, page by page; `between` runs while a page is on its way. */
async function walk(
  service: OpenService,
  { size, status, between }: {
    readonly size: number | undefined;
    readonly status: Status | undefined;
    readonly between: () => Promise<void>;
  },
): Promise<number[][]> {
  const parameters = new URLSearchParams();
  if (size !== undefined) parameters.set("limit", `${size}`);
  if (status !== undefined) parameters.set("status", status);
  const pages: number[][] = [];
  let address: string | undefined = `${service.base}/pets?${parameters}`;
  while (address !== undefined) {
    const from: string = address;
    const [answer] = await Promise.all([ask(service, "GET", from), between()]);
    assert.equal(answer.status, 200);
    const page: { id: number }[] = JSON.parse(answer.text);
    pages.push(page.map(({ id }) => id));
    assert.ok(pages.length <= 100, "a walk ends");
    address = linked(answer, { rel: "next", from });
    assert.equal(address !== undefined, answer.headers.has("link"));
  }
  return pages;
}

/** The ids of the pets that match; the first pet is 1. */
function matching(
  all: readonly Status[],
  filter: Status | undefined,
): number[] {
  return all.flatMap((status, index) =>
    filter === undefined || status === filter ? [index + 1] : []
  );
}

// Law: a walk sees the pets that match and existed when it began, each once and in order, and of those that
// are added meanwhile a run without a gap. Its pages are full, except the last, which is empty only if
// nothing matches.
test("a walk sees every earlier pet that matches once, in order and in full pages, while others are added", async () => {
  await fc.assert(fc.asyncProperty(
    statuses,
    statuses,
    limit,
    fc.option(status, { nil: undefined }),
    fc.nat(3),
    async (before, later, size, filter, burst) => {
      const service = handleService();
      for (const status of before) await add(service, status);
      const waiting = [...later];
      const all = [...before];
      async function between(): Promise<void> {
        // The order of the answers is not that of the requests.
        const next = waiting.splice(0, burst);
        await Promise.all(next.map(async (status) => {
          all[await add(service, status) - 1] = status;
        }));
      }
      const pages = await walk(service, { size, status: filter, between });
      const seen = pages.flat();
      assert.deepEqual(seen, matching(all, filter).slice(0, seen.length));
      assert.ok(seen.length >= matching(before, filter).length);
      for (const page of pages.slice(0, -1)) {
        assert.equal(page.length, size ?? 20);
      }
      if (pages.length > 1) assert.notEqual(pages.at(-1)?.length, 0);
    },
  ));
});
