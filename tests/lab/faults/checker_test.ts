import assert from "node:assert/strict";
import { test } from "node:test";
import {
  contradictions,
  type Create,
  type Operation,
  type Seen,
  shortest,
  type Times,
} from "./checker.ts";

/** `created("a", 1, 10, 20)`: the create of `a` was sent at 10 ms, and got id 1 at 20 ms. */
function created(name: string, id: number, ...at: At): Create {
  const seen = pet(id, name);
  return {
    kind: "create",
    body: seen.body,
    outcome: "added",
    seen,
    ...time(at),
  };
}

function attempt(name: string, outcome: Create["outcome"], ...at: At): Create {
  return { kind: "create", body: pet(0, name).body, outcome, ...time(at) };
}

function found(id: number, name: string, ...at: At): Operation {
  return { kind: "get", id, seen: pet(id, name), ...time(at) };
}

function notFound(id: number, ...at: At): Operation {
  return { kind: "get", id, ...time(at) };
}

/** A last page; `pets` are ids and names in turn. */
function page(after: number, pets: readonly Seen[], ...at: At): Operation {
  return { kind: "page", after, limit: 3, pets, hasNext: false, ...time(at) };
}

function key(
  kind: "issue" | "revoke" | "accepted" | "unauthorized",
  ...at: At
): Operation {
  return { kind, apiKey: "k", ...time(at) };
}

function failover(...at: At): Operation {
  return { kind: "failover", ...time(at) };
}

type At = readonly [start: number, end: number];

function time([start, end]: At): Times {
  return { start, end, server: "s" };
}

function pet(id: number, name: string): Seen {
  const status = name.startsWith("s") ? "sold" : "available";
  return { id, body: JSON.stringify({ name, categoryId: 1, status }) };
}

const A = created("a", 1, 0, 10);
const B = created("b", 2, 20, 30);
const [a, b] = [pet(1, "a"), pet(2, "b")];
const keyed = (create: Create): Create => ({ ...create, key: "x" });

/** Promises, histories that break each, and the places of the one or two operations that show it. */
const BROKEN: Readonly<
  Record<
    string,
    Readonly<
      Record<string, readonly [at: readonly number[], ...Operation[]]>
    >
  >
> = {
  "What is visible is in every read that begins later": {
    "a lost pet": [[0, 1], A, notFound(1, 11, 12), found(1, "a", 13, 14)],
    "a pet that a last page misses": [[0, 1], A, page(0, [], 11, 12)],
    "a pet of a status that a last page misses": [
      [0, 1],
      created("s", 1, 0, 10),
      { ...page(0, [], 11, 12), status: "sold" } as Operation,
    ],
    "a pet that is gone after it was seen": [
      [1, 2],
      attempt("a", "unknown", 0, 5),
      found(1, "a", 6, 7),
      notFound(1, 8, 9),
    ],
    "an acknowledged pet that a failover takes": [
      [0, 2],
      A,
      failover(15, 20),
      notFound(1, 21, 22),
    ],
    "an acknowledged pet that a read during a failover misses": [
      [0, 2],
      A,
      failover(15, 20),
      notFound(1, 16, 22),
    ],
    "an old primary that answers after a failover": [
      [1, 2],
      failover(5, 9),
      B,
      page(0, [], 31, 32),
    ],
  },
  "A page shows all pets up to its last one": {
    "a hole that is filled": [
      [0, 2],
      A,
      attempt("b", "unknown", 0, 10),
      page(0, [b], 11, 12),
      page(0, [a, b], 13, 14),
    ],
  },
  "Ids ascend in the order of creates": {
    "a later create with a smaller id": [
      [0, 1],
      created("b", 2, 0, 10),
      created("a", 1, 20, 30),
    ],
    "a pet that is there before it was sent": [
      [0, 1],
      found(1, "a", 0, 5),
      attempt("a", "unknown", 6, 9),
    ],
  },
  "An id is given once": {
    "an id of two pets": [[0, 1], A, created("b", 1, 0, 10)],
    "an acknowledged id that is given again after a failover": [
      [0, 2],
      A,
      failover(15, 18),
      created("b", 1, 20, 30),
    ],
  },
  "A create adds one pet": {
    "a create that adds two pets": [[0, 1], A, found(2, "a", 11, 12)],
  },
  "A create that was refused changes nothing": {
    "a refused create that adds a pet": [
      [0, 1],
      attempt("a", "refused", 0, 10),
      found(1, "a", 11, 12),
    ],
  },
  "A pet is one that was sent": {
    "a pet that nobody sent": [[0], found(1, "a", 0, 1)],
  },
  "A 201 has the pet that was sent": {
    "another pet than was sent": [[0], { ...A, seen: b }, B],
  },
  "A pet has the id that was asked for": {
    "another pet than was asked for": [
      [1],
      A,
      { ...found(1, "a", 11, 12), id: 3 } as Operation,
    ],
  },
  "A page is in order, with all that was asked for and no more": {
    "a page in disorder": [[2], A, B, page(0, [b, a], 31, 32)],
    "a short page with a next one": [
      [1],
      A,
      { ...page(0, [a], 31, 32), hasNext: true } as Operation,
    ],
  },
  "A key gives one pet": {
    "two pets for a key": [
      [0, 1],
      keyed(A),
      keyed({ ...created("a", 2, 0, 10), outcome: "replayed" }),
    ],
  },
  "A pet is added once for a key": {
    "a key that adds twice": [
      [0, 1],
      keyed(A),
      keyed(created("a", 1, 11, 12)),
    ],
  },
  "A replay repeats an answer": {
    "a replay of nothing": [
      [0],
      keyed({ ...A, outcome: "replayed" }),
      keyed(attempt("a", "refused", 0, 5)),
    ],
  },
  "422 needs another body before it": {
    "a 422 for the only body": [
      [1],
      keyed(A),
      keyed(attempt("a", "reused", 11, 12)),
    ],
  },
  "A revoked key is refused within a second": {
    "a revoked key that is accepted": [
      [1, 2],
      key("issue", 0, 1),
      key("revoke", 10, 20),
      key("accepted", 1021, 1022),
    ],
  },
  "An issued key is accepted": {
    "a valid key that is refused": [
      [0, 1],
      key("issue", 0, 1),
      key("unauthorized", 2, 9),
      key("revoke", 10, 20),
    ],
  },
  "No server shows what never was": {
    "a replica that shows what no primary had": [
      [0, 2],
      A,
      attempt("b", "unknown", 0, 5),
      { ...found(1, "b", 11, 12), isReplica: true },
    ],
  },
};

for (const [promise, histories] of Object.entries(BROKEN)) {
  for (const [title, [places, ...history]] of Object.entries(histories)) {
    test(`The checker finds ${title}, however much else happens`, () => {
      const operations = places.map((place) => history[place]);
      const [first] = contradictions(history);
      assert.deepEqual(first, { promise, operations });
      const busy = [...crowd(2000), ...history].sort((a, b) => a.end - b.end);
      const found = [...contradictions(busy)];
      const same = found.find((each) => each.promise === promise);
      assert.ok(same, JSON.stringify(found.slice(0, 3)));
      assert.ok(shortest(busy, same).length <= history.length);
    });
  }
}

/** Histories that look odd and keep every promise. */
const KEPT: Readonly<Record<string, readonly Operation[]>> = {
  "reads that overlap a create in either order": [
    A,
    notFound(1, 1, 12),
    found(1, "a", 2, 3),
    page(0, [], 1, 9),
  ],
  "a create without an answer that is carried out much later": [
    attempt("a", "unknown", 0, 10),
    notFound(1, 20, 30),
    page(0, [a], 40, 50),
  ],
  "creates at once whose answers come in another order": [
    created("b", 2, 0, 10),
    created("a", 1, 5, 30),
  ],
  "a hole that stays": [A, created("c", 3, 20, 30), notFound(2, 40, 50)],
  "a failover that takes back a pet nobody was told of, and gives its id again":
    [
      attempt("a", "unknown", 0, 5),
      found(1, "a", 6, 7),
      failover(10, 20),
      notFound(1, 21, 22),
      created("b", 1, 23, 24),
      { ...found(1, "a", 25, 26), isReplica: true },
    ],
  "a repeated create that finds its pet": [
    keyed(attempt("a", "unknown", 0, 5)),
    keyed(attempt("a", "refused", 6, 7)),
    keyed({ ...created("a", 1, 8, 9), outcome: "replayed" }),
    keyed(attempt("b", "reused", 10, 11)),
  ],
  "a replica that lags": [A, { ...notFound(1, 11, 12), isReplica: true }],
  "a key that is remembered for a second": [
    key("issue", 0, 1),
    key("accepted", 2, 3),
    key("revoke", 10, 20),
    key("accepted", 1019, 1300),
    key("unauthorized", 15, 30),
  ],
};

for (const [title, history] of Object.entries(KEPT)) {
  test(`The checker accepts ${title}`, () => {
    assert.deepEqual([...contradictions(history)], []);
    const busy = [...history, ...crowd(500)];
    assert.deepEqual([...contradictions(busy)], []);
  });
}

/** Creates that come after all other operations here, one at a time. */
function crowd(count: number): readonly Operation[] {
  return Array.from({ length: count }, (_, n) => {
    const start = 10_000 + 10 * n;
    return created(`n${n}`, 1000 + n, start, start + 9);
  });
}
