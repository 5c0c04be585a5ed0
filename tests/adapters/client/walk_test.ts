/** `for await (const pet of client.pets())`: every pet once, in order, and always an end. */
import assert from "node:assert/strict";
import test from "node:test";
import { BASE, failure, json, petJson, scripted } from "./scripted.ts";

/** Makes a page of pets, with a link to the next if one is given. */
function petsPage(ids: readonly bigint[], target?: string): Response {
  return json(`[${ids.map((id) => petJson(id)).join(",")}]`, {
    headers: target === undefined ? {} : { link: `<${target}>; rel="next"` },
  });
}

test("a walk over few pets takes pages of 100", async () => {
  const { client, requests } = scripted([json("[]"), json("[]")]);
  await Array.fromAsync(client.pets());
  await Array.fromAsync(client.pets({ status: "sold", after: 7n, limit: 5 }));
  assert.deepEqual(requests.map(({ url }) => url), [
    `${BASE}/pets?limit=100`,
    `${BASE}/pets?limit=5&status=sold&after=7`,
  ]);
});

test("a walk goes on after the last id, wherever the link leads", async () => {
  const { client, requests } = scripted([
    petsPage([1n, 2n], "?cursor=a%2Fb"),
    petsPage([5n], "http://elsewhere/pets?x=1"),
    petsPage([9n], "pets"),
    petsPage([]),
  ]);
  const pets = await Array.fromAsync(client.pets({ status: "sold" }));
  assert.deepEqual(pets.map(({ id }) => id), [1n, 2n, 5n, 9n]);
  assert.deepEqual(
    requests.slice(1).map(({ url }) => url),
    [2, 5, 9].map((id) => `${BASE}/pets?limit=100&status=sold&after=${id}`),
  );
});

test("a walk passes on a status that a later version has", async () => {
  const page = `[${petJson(1n)},${
    petJson(2n).replace("available", "reserved")
  },${petJson(3n)}]`;
  const { client } = scripted([json(page)]);
  const pets = await Array.fromAsync(client.pets());
  assert.deepEqual(pets.map(({ status }): string => status), [
    "available",
    "reserved",
    "available",
  ]);
});

test("a walk asks for a page when it comes to it, and can be left and begun anew", async () => {
  const { client, requests } = scripted([
    petsPage([1n, 2n], "?after=2"),
    petsPage([1n, 2n], "?after=2"),
    petsPage([3n]),
  ]);
  const pets = client.pets();
  assert.equal(requests.length, 0);
  for await (const { id } of pets) if (id === 2n) break;
  assert.equal(requests.length, 1);
  assert.equal((await Array.fromAsync(pets)).length, 3);
  assert.equal(requests.length, 3);
});

const cases = [
  ["lead round in a circle", [[1n], [2n], [1n]], 3],
  ["are empty, and go on for ever", [[], []], 1],
  ["repeat a pet", [[1n, 1n]], 1],
  ["are out of order", [[2n, 1n]], 1],
  ["begin with the last of the page before", [[1n, 2n], [2n]], 2],
  ["begin before the page before", [[1n, 2n], [1n]], 2],
] as const;
for (const [what, pages, requests] of cases) {
  test(`pages that ${what} end with an error`, async () => {
    const scriptOf = pages.map((ids, i) => petsPage(ids, `?page=${i}`));
    const { client, requests: sent } = scripted(scriptOf);
    const error = await failure(Array.fromAsync(client.pets()));
    assert.equal(error.code, "invalid_response");
    const message =
      /the ids .* not ascending$|empty, yet it has a next one$|this store does not page by after$/;
    assert.match(error.message, message);
    assert.equal(sent.length, requests);
  });
}

test("a page that begins with after is an error", async () => {
  const { client } = scripted([petsPage([7n])]);
  const error = await failure(client.listPets({ after: 7n }));
  assert.equal(error.code, "invalid_response");
  assert.match(error.message, /: this store does not page by after$/);
});
