/**
 * The promises of the interface itself, each with a check that fails on a mistake and on nothing else.
 *
 * A store is free where the interface shows nothing: the range and order of ids, the order and the paging of a
 * listing, further members, the status of a pet that was added without one, and the answer to an invalid
 * query. A store may also refuse a category or a name that it does not like, but not change it.
 *
 * The order is that of harm, from strangers let in to pages of a wrong length: mend the first that fails
 * first. Up to the last two, fewer than a hundred pets are added, so that a listing without a next page
 * still shows all of them.
 */

import assert from "node:assert/strict";
import { assertRefused } from "./error_reply.ts";
import {
  type Clauses,
  newName,
  type Pet,
  petIn,
  type PetsClient,
  petsIn,
  Unseen,
} from "./pets_client.ts";

const STATUSES = ["available", "pending", "sold"];
const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);

/** Categories that 32 bits, or a double, would change. */
const CATEGORIES = [
  ...[0n, -1n, 2n ** 31n, 2n ** 32n + 1n, -(2n ** 31n) - 1n],
  ...[2n ** 53n + 1n, -(2n ** 53n) - 1n],
  ...[INT64_MAX, INT64_MAX - 1n, INT64_MIN, INT64_MIN + 1n],
];

/** Names that a store may refuse, but not trim, escape, normalise or cut. */
const NAMES: readonly ((name: string) => string)[] = [
  (name) => ` ${name}`,
  (name) => `${name} `,
  (name) => `${name}  x`,
  (name) => `${name}\u00a0`,
  (name) => `${name}<b>&amp;"'\\/\`;--%20+`,
  (name) => `${name}Zoe\u0308`, // decomposed; the next changes in every normal form
  (name) => `${name}\u212b\ufb01\u00e9`,
  (name) => `${name}🐕日本`,
  (name) => `${name}\u0080\u2028\ufeff\u200b\ufffd`,
  (name) => `${name}\u0001`,
  (name) => `${name}\t\nx`,
  (name) => `${name}${"🐕".repeat(100)}`,
  () => `0${randomId()}`,
  ...[33, 51, 101, 129, 255, 300, 1100].map((length) => (name: string) =>
    name.padEnd(length, "x")
  ),
];

/** Values that a member must not have, as JSON. */
const REFUSED: Readonly<Record<string, Readonly<Record<string, string[]>>>> = {
  name: {
    "a name that is not a string": ["null", "7", "true", "false", "[]", "{}"],
  },
  categoryId: {
    "a categoryId with a fraction": ["1.5", "-0.5", "1e-1"],
    "a categoryId beyond int64": [
      ...["9223372036854775808", "-9223372036854775809"],
      ...["18446744073709551617", "1e400"],
    ],
    "a categoryId that is not a number": [
      ...['"1"', '""', "null", "true", "false", "[]", "[1]", "{}"],
    ],
  },
  status: {
    "a status that is none of the three": [
      ...['""', '"Sold"', '"sold "', '"gone"', '"available,sold"'],
    ],
    "a status that is not a string": [
      ...["null", "7", "0", "true", "false", '["sold"]', "[]", "{}"],
    ],
  },
};

/** Clauses of the interface. */
export const INTERFACE_CLAUSES: Clauses = {
  // ---- Keys ----
  async "no key is 401 with an Error body, whatever the operation"(client) {
    await assertUnauthorized(client, [{}, { authorization: "Basic dTpw" }]);
  },

  async "no key or a wrong one is 401, whatever else is wrong with the request"(
    client,
  ) {
    for (const authorization of [undefined, "Bearer wrong"]) {
      const key = { authorization };
      for (const id of [randomId(), -randomId()]) {
        assertRefused(await client.get(`/pets/${id}`, key), 401);
      }
      for (const query of ["limit=0", "limit=x", "status=gone"]) {
        assertRefused(await client.get(`/pets?${query}`, key), 401);
      }
      for (const body of ["", "{", "[]", "{}", '{"name":7}']) {
        assertRefused(await client.post(body, key), 401);
      }
      const text = { ...key, "content-type": "text/plain" };
      assertRefused(await client.post("Rex", text), 401);
      assertRefused(await client.send("POST", "/pets", { headers: key }), 401);
    }
  },

  async "a wrong key is 401 with an Error body, whatever the operation"(
    client,
  ) {
    const { key } = client;
    const near = [`${key}x`, `x${key}`, key.slice(0, -1)];
    const tokens = ["wrong", ...near, `${key},${key}`, `${key} ${key}`];
    const wrong = tokens.map((token) => ({ authorization: `Bearer ${token}` }));
    await assertUnauthorized(client, wrong);
  },

  async "a key in another case is 401"(client) {
    const { key } = client;
    const cases = [key.toLowerCase(), key.toUpperCase()];
    const others = cases.filter((other) => other !== key)
      .map((other) => ({ authorization: `Bearer ${other}` }));
    if (others.length === 0) throw new Unseen("the key has no letters");
    await assertUnauthorized(client, others);
  },

  async "a key without the scheme Bearer is 401"(client) {
    const { key } = client;
    const values = [
      ...["Basic", "Token", "ApiKey", "Bearerx"].map((name) =>
        `${name} ${key}`
      ),
      ...[`${key}:`, `:${key}`].map((user) => `Basic ${btoa(user)}`),
      ...[key, `Bearer${key}`, "Bearer"],
    ];
    const wrong = values.map((authorization) => ({ authorization }));
    await assertUnauthorized(client, wrong);
  },

  async "a key in the query or the body opens nothing"(client) {
    const { id } = await client.addPet();
    const none = { authorization: undefined };
    const names = [
      ...["access_token", "auth_token", "api_token", "token", "bearer"],
      ...["api_key", "api-key", "apikey", "apiKey", "API_KEY", "key"],
      ...["auth", "authorization", "Authorization", "secret"],
    ];
    for (const name of names) {
      const query = `${name}=${encodeURIComponent(client.key)}`;
      for (const path of ["/pets", `/pets/${id}`]) {
        assertRefused(await client.get(`${path}?${query}`, none), 401);
      }
      const pet = client.petJson({ [name]: client.key });
      const sent = { body: pet, headers: none };
      assertRefused(await client.send("POST", "/pets", sent), 401);
      assertRefused(await client.send("POST", `/pets?${query}`, sent), 401);
    }
    const form = {
      ...none,
      "content-type": "application/x-www-form-urlencoded",
    };
    const sent = new URLSearchParams({ access_token: client.key, name: "Rex" });
    assertRefused(await client.post(`${sent}&categoryId=1`, form), 401);
    const fields = ["x-api-key", "api-key", "x-auth-token"];
    const wrong = fields.map((field) => ({ [field]: client.key }));
    await assertUnauthorized(client, wrong);
  },

  // ---- Pets, as they are kept ----
  async "createPet answers 201 with the animal and a new id"(client) {
    const ids = new Set<bigint>();
    for (const status of STATUSES) {
      const sent = { name: newName(), categoryId: client.categoryId, status };
      const { id, ...pet } = await client.addPet(sent);
      assert.deepEqual(pet, sent);
      ids.add(id);
    }
    assert.equal(ids.size, 3, "an id was given twice");
    const body = client.petJson();
    const first = petIn(await client.post(body), 201);
    const second = await client.post(body);
    // A store may insist on names that are not taken.
    if (second.status >= 400 && second.status < 500) return;
    assert.notEqual(petIn(second, 201).id, first.id, "an id was given twice");
  },

  async "createPet gives animals that are added at once an id each"(client) {
    const adding = Array.from({ length: 20 }, () => client.addPet());
    const pets = await Promise.all(adding);
    const ids = new Set(pets.map(({ id }) => id));
    assert.equal(ids.size, pets.length, "an id was given twice");
    for (const pet of pets) {
      assert.deepEqual(await client.getPet(pet.id), pet);
    }
  },

  async "createPet assigns the id itself, whatever the body says"(client) {
    const pet = await client.addPet();
    for (const id of [randomId(), `${randomId()}`, pet.id, null]) {
      const answer = await client.post(client.petJson({ id }));
      // A store may refuse members that it does not know.
      if (answer.status === 400) continue;
      const added = petIn(answer, 201);
      assert.notEqual(`${added.id}`, `${id}`, "the client chose the id");
    }
    assert.deepEqual(await client.getPet(pet.id), pet, "a pet was replaced");
  },

  async "getPet answers the animal with this id, and no other"(client) {
    const pet = await client.addPet();
    for (const added of [pet, await client.addPet({ status: "sold" })]) {
      assert.deepEqual(await client.getPet(added.id), added);
    }
    const { id } = pet;
    // Ids that 32 bits, or a double, would take for the first.
    const near = [id + 2n ** 32n, id - 2n ** 32n, id + 1n, id - 1n];
    for (const other of near) {
      if (other !== BigInt.asIntN(64, other)) continue;
      const answer = await client.get(`/pets/${other}`);
      if (answer.status === 200) assert.equal(petIn(answer, 200).id, other);
      else assertRefused(answer, 404);
    }
  },

  async "getPet answers 404 if no animal has the id"(client) {
    await client.addPet();
    for (const id of [randomId(), randomId(), -randomId()]) {
      assertRefused(await client.get(`/pets/${id}`), 404);
    }
  },

  async "a categoryId is any int64, exact to the last digit in, stored and out"(
    client,
  ) {
    const added: Pet[] = [];
    const refused: bigint[] = [];
    for (const categoryId of [client.categoryId, ...CATEGORIES]) {
      const answer = await client.post(client.petJson({ categoryId }));
      if (answer.status === 400) {
        refused.push(categoryId);
        continue;
      }
      const pet = petIn(answer, 201);
      assert.equal(pet.categoryId, categoryId);
      assert.deepEqual(await client.getPet(pet.id), pet);
      added.push(pet);
    }
    // Last, because not every listing can be searched.
    await assertListed(client, added);
    if (refused.length === 0) return;
    throw new Unseen(`the store refuses the categories ${refused.join(", ")}`);
  },

  async "createPet keeps a name as it is sent, or refuses it"(client) {
    const added: Pet[] = [];
    for (const [i, spell] of NAMES.entries()) {
      const name = spell(newName());
      const answer = await client.post(client.petJson({ name }));
      if (answer.status === 400) continue;
      const pet = petIn(answer, 201);
      assert.equal(pet.name, name, `name ${i}`);
      assert.deepEqual(await client.getPet(pet.id), pet);
      added.push(pet);
    }
    await assertListed(client, added);
  },

  async "createPet takes a surrogate pair however it is spelled"(client) {
    const name = `${newName()}🐕`;
    const body = client.petJson({ name });
    if ((await client.post(body)).status === 400) {
      throw new Unseen("the store refuses the name");
    }
    const spelled = body.replace("🐕", "\\uD83D\\udc15")
      .replace("Rex", "Max"); // a store may insist on names that are not taken
    const answer = await client.post(spelled);
    assert.equal(petIn(answer, 201).name, name.replace("Rex", "Max"));
  },

  // ---- What is refused ----
  ...refusals(),

  async "a body that is missing, is not a JSON object, or lacks a field is 400"(
    client,
  ) {
    const name = newName();
    const pet = client.petJson({ name });
    const json = { "content-type": "application/json" };
    for (const headers of [{}, json]) {
      const missing = { headers };
      assertRefused(await client.send("POST", "/pets", missing), 400);
    }
    const bodies = [
      ...["", "{", "null", "true", "7", '"Rex"', "[]", "{}"],
      ...[`[${pet}]`, pet + pet, pet.slice(0, -1), pet.replace("{", "{,")],
      pet.replaceAll('"', "'"),
      `{"name":"${name}"}`,
      `{"categoryId":${client.categoryId}}`,
      `{"name":"${name}","categoryId":0${client.categoryId}}`,
      `{"__proto__":${pet}}`,
    ];
    for (const body of bodies) {
      assertRefused(await client.post(body), 400);
    }
    await client.assertNotAdded(name);
  },

  // ---- Listing ----
  async "listPets answers an array of animals"(client) {
    const pets = [
      await client.addPet({ status: "sold" }),
      await client.addPet(),
    ];
    const ids = await client.listIds("?limit=100");
    assert.ok(ids.length > 0, "the list is empty");
    assert.equal(new Set(ids).size, ids.length, "an animal is listed twice");
    await assertListed(client, pets);
  },

  async "listPets filters by each status"(client) {
    const pets: Pet[] = [];
    for (const status of [...STATUSES, ...STATUSES]) {
      pets.push(await client.addPet({ status }));
    }
    const names = pets.map(({ name }) => name);
    for (const status of STATUSES) {
      const has = (pet: Pet) => pet.status === status;
      const page = await client.listPets(`?status=${status}`);
      assert.deepEqual(page.filter((pet) => !has(pet)), []);
      const found = await client.findPets(names, `&status=${status}`);
      assert.deepEqual(sorted(found), sorted(pets.filter(has)));
    }
  },

  async "listPets applies limit after the filter by status"(client) {
    for (const status of [...STATUSES, ...STATUSES]) {
      await client.addPet({ status });
    }
    for (const status of STATUSES) {
      for (const limit of [1, 2]) {
        const query = `?status=${status}&limit=${limit}`;
        const page = await client.listPets(query);
        assert.equal(page.length, limit, query);
        assert.deepEqual(page.filter((pet) => pet.status !== status), []);
      }
    }
  },

  async "listPets answers 20 animals if no limit is sent"(client) {
    for (let i = 0; i < 21; i++) {
      await client.addPet({ status: "pending" });
      await client.addPet({ status: "sold" });
    }
    for (const query of ["", "?status=pending", "?status=sold"]) {
      const ids = await client.listIds(query);
      assert.equal(ids.length, 20, query);
      assert.equal(new Set(ids).size, 20, "an animal is listed twice");
    }
  },

  async "listPets takes a limit from 1 to 100"(client) {
    await client.addPets(101, { status: "available" });
    for (const limit of [1, 2, 19, 21, 50, 51, 99, 100]) {
      for (
        const query of [`?limit=${limit}`, `?limit=${limit}&status=available`]
      ) {
        const ids = await client.listIds(query);
        assert.equal(new Set(ids).size, limit, query);
        assert.equal(ids.length, limit, query);
      }
    }
  },

  async "listPets answers 100 animals at most"(client) {
    await client.addPets(101, { status: "available" });
    const status = "status=available";
    for (const query of ["limit=101", "limit=1000", `limit=1000&${status}`]) {
      const answer = await client.get(`/pets?${query}`);
      // The interface does not show the answer to an invalid limit.
      if (answer.status !== 200 || !/^\s*\[/.test(answer.text)) continue;
      assert.ok(petsIn(answer).length <= 100, `more than 100 for ${query}`);
    }
  },
};

/** A clause for each kind of value that createPet refuses. */
function refusals(): Clauses {
  const clauses: Record<string, Clauses[string]> = {};
  for (const [member, kinds] of Object.entries(REFUSED)) {
    for (const [kind, values] of Object.entries(kinds)) {
      clauses[`createPet refuses ${kind}`] = async (client) => {
        const name = newName();
        for (const value of values) {
          const pet = client.petWith(member, value);
          const body = member === "name"
            ? pet
            : pet.replace(/Rex[a-z]+/, () => name);
          assertRefused(await client.post(body), 400);
        }
        if (member !== "name") await client.assertNotAdded(name);
      };
    }
  }
  return clauses;
}

/** Asserts that each operation is 401 with any of these header fields instead of the key, and adds nothing. */
async function assertUnauthorized(
  client: PetsClient,
  all: readonly Readonly<Record<string, string>>[],
): Promise<void> {
  const { id } = await client.addPet();
  const name = newName();
  for (const fields of all) {
    const headers = { authorization: undefined, ...fields };
    assertRefused(await client.get("/pets", headers), 401);
    assertRefused(await client.get(`/pets/${id}`, headers), 401);
    const body = client.petJson({ name });
    assertRefused(await client.post(body, headers), 401);
  }
  await client.assertNotAdded(name);
}

/** Asserts that a listing has each of these pets once. */
async function assertListed(
  client: PetsClient,
  pets: readonly Pet[],
): Promise<void> {
  const found = await client.findPets(pets.map(({ name }) => name));
  assert.deepEqual(sorted(found), sorted(pets));
}

function sorted(pets: readonly Pet[]): Pet[] {
  return [...pets].sort((a, b) => a.name < b.name ? -1 : 1);
}

/** An id that no pet has, in all likelihood: 18 digits. */
function randomId(): bigint {
  const [number = 0n] = crypto.getRandomValues(new BigUint64Array(1));
  return 10n ** 17n + number % (9n * 10n ** 17n);
}
