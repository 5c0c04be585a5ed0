// Run it with `vitest run --pool=threads`: each test has a world of its own.
import { createClient } from "@petstore/service/client";
import { randomUUID } from "node:crypto";
import { expect, inject, test as base } from "vitest";

const test = base.extend({
  // deno-lint-ignore no-empty-pattern -- Vitest reads which fixtures it needs
  async world({}, use) {
    const key = `test-${randomUUID()}`;
    async function control(method, path = "", body) {
      const response = await fetch(inject("control") + path, {
        method,
        body: JSON.stringify(body),
        headers: {
          authorization: `Bearer ${key}`,
          "content-type": "application/json",
        },
      });
      return response.status === 204 ? undefined : await response.json();
    }
    const client = createClient({ baseUrl: inject("url"), key });
    await use({ client, control });
    await control("DELETE"); // ends the world
  },
});

test.concurrent("a create whose answer was lost adds one pet", async ({ world }) => {
  const { client, control } = world;
  const fault = { when: { method: "POST" }, lose: true, work: true };
  await control("POST", "/faults", fault);
  const rex = await client.createPet({ name: "Rex", categoryId: 1n });
  expect(rex.id).toBe(51n);
  const statuses = (await control("GET", "/requests"))
    .map(({ status }) => status);
  expect(statuses).toEqual([null, 201]);
});

test.concurrent("a lost request is sent again", async ({ world }) => {
  const { client, control } = world;
  await control("POST", "/faults", { lose: true });
  const tom = await client.createPet({ name: "Tom", categoryId: 1n });
  expect(tom.id).toBe(51n);
  expect((await control("GET")).pets).toBe(51);
});
