/**
 * The promises that this project makes where the interface is silent: a clause for each row of the
 * tables in docs/contract.md. The interface's own promises are in `interface_contract.ts`.
 *
 * `exchanges.ts` has those that single requests and answers show, `raw_http_contract.ts` those that
 * need requests `fetch` cannot send.
 */

import assert from "node:assert/strict";
import { type Answer, linked } from "./ask.ts";
import {
  assertAnyError,
  assertJsonHeaders,
  assertRefused,
} from "./error_reply.ts";
import { clausesOf, EXCHANGES } from "./exchanges.ts";
import {
  type Clauses,
  newName,
  petIn,
  type PetsClient,
  petsIn,
} from "./pets_client.ts";

const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);
const NO_KEY = { authorization: undefined };
/** One byte more than the 64 KiB that a body may have. */
const TOO_MUCH = "x".repeat(65_537);

/** Clauses of decisions. */
export const HTTP_CLAUSES: Clauses = {
  ...clausesOf(EXCHANGES),

  // ---- Requests and routing ----
  async "a path with encoded letters, digits, - . _ or ~ is the same path"(
    client,
  ) {
    const { id } = await client.addPet();
    const digits = encoded(`${id}`);
    const same = {
      "/pets": ["/%70ets", "/pet%73", `/${encoded("pets")}`],
      "/pets?limit=1": ["/%70ets?limit=1"],
      ...!client.isAfterRemoval && {
        [`/pets/${id}`]: [`/pets/${digits}`, `/p%65ts/${digits.toLowerCase()}`],
      },
    };
    for (const [path, spellings] of Object.entries(same)) {
      const plain = await client.get(path);
      assert.equal(plain.status, 200, path);
      for (const spelling of spellings) {
        const answer = await client.get(spelling);
        assert.equal(answer.status, 200, spelling);
        assert.equal(answer.text, plain.text);
      }
    }
    const body = client.petJson();
    petIn(await client.send("POST", "/%70ets", { body }), 201);
    assertRefused(await client.send("PUT", "/%70ets"), 405);
    assertRefused(await client.get("/%70ets", NO_KEY), 401);
    assertRefused(await client.get(`/pets/%30${id}`), 404); // 07
  },

  async "no other encoded byte is decoded, and none twice: the path is 404"(
    client,
  ) {
    const { id } = await client.addPet();
    const twice = encoded(encoded(`${id}`).replaceAll("%", "%25"));
    const others =
      `/pets%2F${id} /pets%2f${id} /pets/%2F${id} /pets/${id}%25 /pets/${id}%00 /pets/${id}%FF
      /pets/${id}% /pets/%25${encoded(`${id}`).slice(1)} /pets/${twice}
      /%50ETS /%2570ets /pets%3Flimit=1`;
    for (const path of others.split(/\s+/)) {
      assertRefused(await client.get(path), 404);
    }
  },

  async "another method on a known path is 405 with Allow, OPTIONS 204, key or none"(
    client,
  ) {
    const { id } = await client.addPet();
    const cases = [
      ["/pets", "PUT", "GET, HEAD, OPTIONS, POST"],
      [`/pets/${id}`, "POST", "GET, HEAD, OPTIONS"],
    ] as const;
    for (const [path, other, allowed] of cases) {
      if (client.isAfterRemoval && path !== "/pets") continue;
      for (const headers of [{}, NO_KEY]) {
        const refused = await client.send(other, path, { headers });
        assertRefused(refused, 405);
        const options = await client.send("OPTIONS", path, { headers });
        assert.deepEqual([options.status, options.text], [204, ""]);
        for (const answer of [refused, options]) {
          const allow = answer.headers.get("allow")?.split(/, */).sort();
          assert.equal(allow?.join(", "), allowed, "Allow");
        }
      }
    }
  },

  async "pages of other origins learn nothing: no response has a CORS header field"(
    client,
  ) {
    const origin = { origin: "https://app.example.com" };
    const preflight = { ...origin, "access-control-request-method": "POST" };
    const asked = [["OPTIONS", preflight, 204], ["GET", origin, 200]] as const;
    for (const [method, headers, status] of asked) {
      const answer = await client.send(method, "/pets", { headers });
      assert.equal(answer.status, status);
      const told = [...answer.headers.keys()]
        .filter((name) => /^(?:vary$|access-control-)/.test(name));
      assert.ok(
        told.length === 0,
        `the answer has ${
          told.join(", ")
        }, and should have no CORS header field: allow no other origin`,
      );
    }
  },

  async "HEAD answers as GET does, without the body"(client) {
    const { id } = await client.addPet({ name: "Zoë" });
    for (const rest of ["", "?limit=0", `/${id}`, "/0", "/0/nothing"]) {
      const path = `/pets${rest}`;
      for (const headers of [{}, NO_KEY]) {
        const got = await client.get(path, headers);
        const head = await client.send("HEAD", path, { headers });
        assert.equal(head.status, got.status, path);
        assert.equal(head.text, "");
        assert.ok(got.text !== "", `GET ${path} has no body`);
        const { byteLength } = bytes(got.text);
        const length = head.headers.get("content-length");
        assert.equal(length, `${byteLength}`, "content-length");
        assert.deepEqual(ownFields(head), ownFields(got));
      }
    }
  },

  async "unknown query parameters are ignored"(client) {
    await client.addPet();
    const plain = await client.get("/pets");
    assert.ok(petsIn(plain).length > 0, "the list is empty");
    for (const query of ["?", "?Limit=0&sort=a&sort=b", "?=0&&", "??limit=0"]) {
      const answer = await client.get(`/pets${query}`);
      assert.equal(answer.status, 200, query);
      assert.equal(answer.text, plain.text);
    }
  },

  // ---- The order of checks ----
  async "nobody without a key learns whether an animal exists"(client) {
    client.needGetPet();
    const { id } = await client.addPet();
    const there = await client.get(`/pets/${id}`, NO_KEY);
    assertRefused(there, 401);
    for (const petId of [INT64_MAX, "x"]) {
      const other = await client.get(`/pets/${petId}`, NO_KEY);
      assert.equal(other.status, 401);
      assert.equal(other.text, there.text);
      assert.deepEqual(ownFields(other), ownFields(there));
    }
  },

  // ---- Listing ----
  async "listPets returns animals ascending by id, in order of creation; ids are positive"(
    client,
  ) {
    const name = newName();
    const pets = [
      await client.addPet({ name, categoryId: 2 }),
      await client.addPet({ name, categoryId: 1 }),
      await client.addPet({ name, categoryId: 3 }),
    ];
    assert.deepEqual(await client.findPets(name), pets);
    const page = await client.listIds("?limit=100");
    const isAscending = page.every((id, i) => id > (page[i - 1] ?? 0n));
    assert.ok(isAscending, `the ids of a page are ${page}`);
    // As text, because the diff of thousands of ids takes gigabytes.
    const shown = async (query?: string) => `${await client.listIds(query)}`;
    assert.equal(await shown(), `${page.slice(0, 20)}`);
    assert.equal(await shown("?limit=2"), `${page.slice(0, 2)}`);
  },

  async "listPets returns the animals whose ids are above after"(client) {
    const [a, b, c] = await addThree(client);
    const all = await client.listIds();
    const above: readonly (readonly [bigint, readonly bigint[]])[] = [
      ...[[a - 1n, [a, b, c]], [a, [b, c]], [c, []], [INT64_MAX, []]] as const,
      ...[0n, -1n, INT64_MIN].map((after) => [after, all] as const),
    ];
    for (const [after, ids] of above) {
      const query = `?after=${after}`;
      const listed = `${await client.listIds(query)}`;
      assert.equal(listed, `${ids}`, `GET /pets${query}`);
    }
  },

  async "listPets links the next page exactly when more animals match"(client) {
    const [a] = await addThree(client);
    await client.addPet({ status: "sold" });
    const assertLinked = async (
      isExpected: boolean,
      query: string,
      after = a - 1n,
    ) => {
      const answer = await client.get(`/pets?${query}&after=${after}`);
      const isLinked = petsIn(answer).length > 0 && answer.headers.has("link");
      const words = isExpected
        ? "Link is missing, and should lead to the next page"
        : "there is a Link, but no more animals match";
      assert.ok(isLinked === isExpected, words);
    };
    await assertLinked(true, "limit=3");
    await assertLinked(false, "limit=4");
    await assertLinked(false, "limit=5");
    // Three are available; the fourth is sold, and does not count.
    await assertLinked(false, "limit=3&status=available");
    await assertLinked(true, "limit=2&status=available");
    await assertLinked(false, "limit=1&status=sold");
    await assertLinked(false, "limit=3", a);
    await client.addPets(17);
    await assertLinked(true, ""); // 20 of 21
  },

  async "the next page keeps limit and status and drops what was ignored"(
    client,
  ) {
    const [a, b] = await addThree(client);
    for (const kept of [["limit=2"], ["limit=2", "status=available"]]) {
      const query = [...kept, "sort=name", `after=${a - 1n}`].join("&");
      const from = `${client.base}/pets?${query}`;
      const next = linked(await client.get(from), { rel: "next", from });
      const [path, sent] = next?.split("?") ?? [];
      assert.equal(path, `${client.base}/pets`, 'Link with rel="next"');
      assert.deepEqual(sent?.split("&").sort(), [`after=${b}`, ...kept]);
    }
  },

  // ---- Errors and authentication ----
  async "a wrong key is not in the answer"(client) {
    const { key } = client;
    for (const token of [`${key}x`, key.slice(0, -1), `${key},${key}`]) {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await client.get("/pets", headers);
      assertRefused(answer, 401);
      // A few letters may occur by chance.
      const isShown = token.length > 3 && answer.text.includes(token);
      assert.ok(!isShown, "the answer contains the key that was sent");
    }
  },

  async "the scheme name is case-insensitive"(client) {
    for (const scheme of ["bEaReR", "Bearer  "]) {
      const headers = { authorization: `${scheme} ${client.key}` };
      assert.equal((await client.get("/pets", headers)).status, 200, scheme);
    }
  },

  async "a JSON response forbids sniffing and caching; an error is code, message, status"(
    client,
  ) {
    const { id } = await client.addPet();
    const answers = [
      await client.get("/pets"),
      await client.post(client.petJson()),
      await client.get(`/pets/${id}`),
      await client.get("/pets", NO_KEY),
      await client.get(`/pets/${INT64_MAX}`),
      await client.send("PUT", "/pets"),
      await client.post("{}"),
      await client.post(TOO_MUCH),
      await client.post(client.petJson(), { "content-type": "text/plain" }),
    ];
    for (const answer of answers) {
      assertJsonHeaders(answer.headers);
      if (answer.status >= 400) assertAnyError(answer);
    }
  },

  // ---- Deprecation ----
  async "every response of getPet says that it is deprecated"(client) {
    client.needGetPet();
    const from = `${client.base}/pets/${(await client.addPet()).id}`;
    const answers = [
      await client.get(from),
      await client.send("HEAD", from),
      await client.get(`/pets/${INT64_MAX}`),
      await client.get("/pets/x"),
      await client.get(from, NO_KEY),
    ];
    const statuses = answers.map(({ status }) => status);
    assert.deepEqual(statuses, [200, 200, 404, 404, 401]);
    for (const answer of answers) {
      const { headers } = answer;
      const sunset = "Thu, 05 Dec 2030 00:00:00 GMT";
      assert.equal(headers.get("sunset"), sunset, "sunset");
      const since = headers.get("deprecation");
      assert.equal(since, "@1764892800", "deprecation");
      const rel = "successor-version";
      const successor = linked(answer, { rel, from });
      const words = `Link with rel="${rel}"`;
      assert.equal(successor, `${client.base}/pets`, words);
    }
  },
};

/** Adds three pets, and returns their ids. */
async function addThree(
  client: PetsClient,
): Promise<readonly [bigint, bigint, bigint]> {
  return [
    (await client.addPet()).id,
    (await client.addPet()).id,
    (await client.addPet()).id,
  ];
}

/** Returns the fields that `handle` sets; servers add others (`Date`, `Connection`, …). */
function ownFields({ headers }: Answer): Record<string, string | null> {
  const names = "allow cache-control content-type deprecation link location " +
    "sunset www-authenticate x-content-type-options";
  return Object.fromEntries(
    names.split(" ").map((name) => [name, headers.get(name)]),
  );
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Each character of a path as percent-encoded ASCII. */
function encoded(text: string): string {
  const spell = (byte: number) => `%${byte.toString(16).toUpperCase()}`;
  return Array.from(bytes(text), spell).join("");
}
