/**
 * What the service promises over HTTP: a clause for each sentence of the interface, and for each row of
 * the tables in docs/contract.md. They judge anything with a base address: `handle` itself, servers on
 * every runtime, and pet stores of other people.
 *
 * What `fetch` cannot send is in `raw_http_contract.ts`.
 *
 * @module
 */

import assert from "node:assert/strict";
import { type Answer, ask, linked, type OpenService } from "./ask.ts";
import { type Clause, decided, stated } from "./clause.ts";
import {
  assertErrorBody,
  assertJsonHeaders,
  assertRefused,
} from "./error_reply.ts";
import {
  add,
  bodyOf,
  create,
  get,
  named,
  newName,
  type Pet,
  petIn,
  petsIn,
} from "./own_pets.ts";

const INT64_MAX = "9223372036854775807";
const INT64_MIN = "-9223372036854775808";
const STATUSES = ["available", "pending", "sold"];
const KEYLESS = { headers: { authorization: undefined } };
const WORDS = "each service words its messages itself";

/** The known paths and their methods. */
const PATHS = [
  ["/pets", "GET, HEAD, OPTIONS, POST"],
  ["/pets/1", "GET, HEAD, OPTIONS"],
] as const;

/** Values of a member that createPet refuses, as JSON; and how our message says why. */
const REFUSED_MEMBERS: readonly (readonly [
  by: typeof stated,
  what: string,
  member: string,
  values: readonly string[],
  reason: string,
])[] = [
  [
    stated,
    "a status that is none of the three",
    "status",
    ['""', '"Sold"'],
    "",
  ],
  [stated, "a status that is no text", "status", ["null", '["sold"]'], ""],
  [stated, "a name that is no text", "name", ["null", "7"], ""],
  [decided, "a name that is empty", "name", ['""'], "empty"],
  [
    decided,
    "a name that is too long",
    "name",
    ["x", "🐕"].map((character) => `"${character.repeat(256)}"`),
    "",
  ],
  [
    decided,
    "control characters in a name",
    "name",
    ['"R\\u0000x"', '"R\\u001fx"', '"R\\u007fx"'],
    "control",
  ],
  [decided, "a lone surrogate", "name", ['"\\udc15\\ud83d"'], "surrogate"],
  [decided, "half a pair", "name", ['"\\ud83d"'], "surrogate"],
  [stated, "a categoryId of a fraction", "categoryId", ["1.5"], "integer"],
  [
    stated,
    "a categoryId that is no int64",
    "categoryId",
    ["9223372036854775808", "1e400"],
    "",
  ],
  [
    stated,
    "a categoryId that is no number",
    "categoryId",
    ['"1"', "null"],
    "",
  ],
];

/** The clauses. */
export const HTTP_CLAUSES: readonly Clause[] = [
  // ---- Requests and routing ----

  decided(
    "an unknown path, also one that is named but not described, is 404 for any method, key or none",
    async (service) => {
      for (const method of ["GET", "DELETE", "OPTIONS"]) {
        for (const authorization of [undefined, `Bearer ${service.key}`]) {
          const answer = await ask(service, method, "/store/orders", {
            headers: { authorization },
          });
          assertRefused(answer, 404);
        }
      }
    },
  ),

  decided("paths are exact and case-sensitive", async (service) => {
    const { id } = await add(service);
    assert.equal((await get(service, `/pets/${id}`)).status, 200);
    const others = ["/pets/", "//pets", "/PETS", "/petsx", `/pets//${id}`]
      .concat(`/pets/${id}/`, `/pets/${id}/x`, `/pets%2F${id}`)
      .concat("/%70ets", "", "/");
    for (const path of others) {
      assertRefused(await get(service, path), 404);
    }
    const above = service.base.replace(/\/v1$/, "");
    for (const path of ["/pets", "/v2/pets", "/V1/pets"]) {
      assertRefused(await get(service, above + path), 404);
    }
  }),

  decided(
    "another method on a known path is 405 with Allow, key or none",
    async (service) => {
      for (const [path, methods] of PATHS) {
        const method = path === "/pets" ? "PUT" : "POST";
        for (const authorization of [undefined, `Bearer ${service.key}`]) {
          const answer = await ask(service, method, path, {
            headers: { authorization },
          });
          assertRefused(answer, 405);
          assert.equal(allowed(answer), methods);
        }
      }
    },
  ),

  decided(
    "OPTIONS on a known path is 204 with Allow and needs no key",
    async (service) => {
      for (const [path, methods] of PATHS) {
        const answer = await ask(service, "OPTIONS", path, KEYLESS);
        assert.equal(answer.status, 204);
        assert.equal(allowed(answer), methods);
        assert.equal(answer.text, "");
      }
    },
  ),

  decided(
    "a page of another origin is told nothing: CORS is off, and no response has a field of it",
    async (service) => {
      const origin = "https://app.example.com";
      const preflight = await ask(service, "OPTIONS", "/pets", {
        headers: { origin, "access-control-request-method": "POST" },
      });
      assert.equal(preflight.status, 204);
      const list = await get(service, "/pets", { headers: { origin } });
      assert.equal(list.status, 200);
      for (const { headers } of [preflight, list]) {
        assert.equal(headers.get("vary"), null);
        const names = [...headers.keys()];
        assert.ok(
          !names.some((name) => name.startsWith("access-control-")),
          "the answer has fields of CORS",
        );
      }
    },
  ),

  decided("HEAD answers as GET does, without the body", async (service) => {
    const { id } = await add(service, { name: "Zoë" });
    const paths = ["/pets", "/pets?limit=0", `/pets/${id}`, "/pets/0"];
    for (const path of [...paths, "/nothing"]) {
      for (const authorization of [`Bearer ${service.key}`, undefined]) {
        const headers = { authorization };
        const got = await get(service, path, { headers });
        const head = await ask(service, "HEAD", path, { headers });
        assert.equal(head.status, got.status, path);
        assert.equal(head.text, "");
        assert.ok(got.text !== "", `GET ${path} has no body`);
        assert.equal(
          head.headers.get("content-length"),
          String(new TextEncoder().encode(got.text).byteLength),
        );
        assert.deepEqual(fields(head), fields(got));
      }
    }
  }),

  decided("unknown query parameters are ignored", async (service) => {
    await add(service);
    const plain = await get(service, "/pets");
    assert.ok(petsIn(plain).length > 0, "the list is empty");
    const queries = ["?", "?Limit=0&sort=a&sort=b", "?=0&&", "??limit=0"];
    for (const query of queries) {
      const answer = await get(service, `/pets${query}`);
      assert.equal(answer.status, 200, query);
      assert.equal(answer.text, plain.text);
    }
  }),

  decided("unknown body members are ignored and not kept", async (service) => {
    const name = newName();
    const answer = await create(
      service,
      `{"id":-77,"tags":["a"],"name":"${name}","categoryId":1,"toString":null,"__proto__":{"status":"sold"}}`,
    );
    const pet = petIn(answer, 201);
    assert.ok(pet.id > 0n, `id ${pet.id}`);
    const { id } = pet;
    assert.deepEqual(pet, { id, name, categoryId: 1n, status: "available" });
  }),

  decided("a repeated limit, status or after is 400", async (service) => {
    for (
      const query of [
        "limit=5&limit=5",
        "status=sold&status=sold",
        "after=1&x=&after=2",
      ]
    ) {
      const message = assertRefused(await get(service, `/pets?${query}`), 400);
      assertSays(message, [query.split("=", 1)[0] ?? ""]);
    }
  }),

  // ---- The order of checks ----

  decided(
    "the key is checked before the body and the query are",
    async (service) => {
      const headers = { authorization: "Bearer wrong" };
      const asked = [
        await get(service, "/pets?limit=0", { headers }),
        await ask(service, "POST", "/pets", {
          headers: { ...headers, "content-type": "text/plain" },
          body: tooMuch(),
        }),
      ];
      for (const answer of asked) assertRefused(answer, 401);
    },
  ),

  decided(
    "nobody without a key learns whether an animal exists",
    async (service) => {
      const { id } = await add(service);
      const there = await get(service, `/pets/${id}`, KEYLESS);
      const none = await get(service, `/pets/${INT64_MAX}`, KEYLESS);
      const noId = await get(service, "/pets/x", KEYLESS);
      assertRefused(there, 401);
      for (const other of [none, noId]) {
        assert.equal(other.status, 401);
        assert.equal(other.text, there.text);
        assert.deepEqual(fields(other), fields(there));
      }
    },
  ),

  decided(
    "the media type is checked before the size, the size before the content",
    async (service) => {
      const headers = { "content-type": "text/plain" };
      assertRefused(
        await ask(service, "POST", "/pets", { headers, body: tooMuch() }),
        415,
      );
      assertRefused(await create(service, tooMuch()), 413);
    },
  ),

  // ---- Listing ----

  decided(
    "listPets answers an empty array where there is no animal",
    async (service) => {
      const answer = await get(service, "/pets");
      assert.deepEqual(petsIn(answer), []);
      assert.equal(answer.headers.get("link"), null);
    },
    { outside: "the store may have pets" },
  ),

  stated("listPets answers a bare array of animals", async (service) => {
    const pets = [await add(service, { status: "sold" }), await add(service)];
    assert.ok(petsIn(await get(service, "/pets")).length >= 2, "some miss");
    for (const pet of pets) {
      assert.deepEqual(await named(service, pet.name), [pet]);
    }
  }),

  decided(
    "listPets answers ascending by id, in order of creation",
    async (service) => {
      const name = newName();
      const pets = [
        await add(service, { name, categoryId: 2, status: "sold" }),
        await add(service, { name, categoryId: 1 }),
        await add(service, { name, categoryId: 3 }),
      ];
      assert.deepEqual(await named(service, name), pets);
      const page = ids(await get(service, "/pets?limit=100"));
      assert.deepEqual(page, page.toSorted(order));
      for (const [query, size] of [["", 20], ["?limit=2", 2]] as const) {
        const shorter = ids(await get(service, `/pets${query}`));
        assert.deepEqual(shorter, page.slice(0, size));
      }
    },
  ),

  stated(
    "listPets answers 20 animals where no limit is sent",
    async (service) => {
      await addMany(service, 21);
      assert.equal(ids(await get(service, "/pets")).length, 20);
    },
  ),

  stated("listPets takes a limit from 1 to 100", async (service) => {
    await addMany(service, 101);
    for (const limit of [1, 21, 100]) {
      const answer = await get(service, `/pets?limit=${limit}`);
      assert.equal(new Set(ids(answer)).size, limit);
    }
  }),

  decided(
    "listPets refuses a limit out of bounds or not in canonical decimal form",
    async (service) => {
      for (const limit of ["0", "101", "1e1", "+5", "05", "10.0", "", "%205"]) {
        const answer = await get(service, `/pets?limit=${limit}`);
        const sent = new URLSearchParams(`limit=${limit}`).get("limit") ?? "";
        assertSays(assertRefused(answer, 400), ["limit", "1", "100", sent]);
      }
      assertRefused(await get(service, "/pets?limit"), 400);
    },
  ),

  decided(
    "one message names every parameter that is wrong",
    async (service) => {
      const answer = await get(service, "/pets?limit=0&status=gone&after=x");
      assert.match(
        assertRefused(answer, 400),
        /limit.*0.*status.*gone.*after.*x/,
      );
    },
  ),

  stated("listPets filters by each status", async (service) => {
    const name = newName();
    const pets: Pet[] = [];
    for (const status of [...STATUSES, "pending"]) {
      pets.push(await add(service, { name, status }));
    }
    for (const status of STATUSES) {
      const page = petsIn(await get(service, `/pets?status=${status}`));
      assert.deepEqual(page.filter((pet) => pet.status !== status), []);
      const found = await named(service, name, `&status=${status}`);
      const expected = pets.filter((pet) => pet.status === status);
      assert.deepEqual(found.toSorted(byId), expected.toSorted(byId));
    }
  }),

  decided(
    "listPets refuses a status that is none of the three",
    async (service) => {
      for (const status of ["", "Sold", "gone", "available,sold"]) {
        const answer = await get(service, `/pets?status=${status}`);
        assertSays(assertRefused(answer, 400), ["status", ...STATUSES]);
      }
    },
  ),

  decided("listPets answers the animals above after", async (service) => {
    const [a, b, c] = await addMany(service, 3);
    const found = async (after: bigint | string) =>
      ids(await get(service, `/pets?after=${after}`));
    assert.deepEqual(await found(a - 1n), [a, b, c]);
    assert.deepEqual(await found(a), [b, c]);
    assert.deepEqual(await found(c), []);
    const all = ids(await get(service, "/pets"));
    for (const after of ["0", "-1", INT64_MIN]) {
      assert.deepEqual(await found(after), all);
    }
    assert.deepEqual(await found(INT64_MAX), []);
  }),

  decided(
    "listPets refuses an after that is no int64 in canonical form",
    async (service) => {
      for (const after of ["", "x", "1.0", "+1", "01", "9223372036854775808"]) {
        const answer = await get(
          service,
          `/pets?after=${encodeURIComponent(after)}`,
        );
        assertSays(assertRefused(answer, 400), ["after"]);
      }
    },
  ),

  decided(
    "listPets links the next page exactly when more animals match",
    async (service) => {
      const [a] = await addMany(service, 3);
      await add(service, { status: "sold" });
      const isLinked = async (query: string, after = a - 1n) => {
        const answer = await get(service, `/pets?${query}&after=${after}`);
        assert.equal(answer.status, 200, answer.text);
        return answer.headers.has("link");
      };
      assert.equal(await isLinked("limit=3"), true);
      assert.equal(await isLinked("limit=4"), false);
      assert.equal(await isLinked("limit=5"), false);
      // Three available ones: the fourth animal is sold, and does not count.
      assert.equal(await isLinked("limit=3&status=available"), false);
      assert.equal(await isLinked("limit=2&status=available"), true);
      assert.equal(await isLinked("limit=1&status=sold"), false);
      assert.equal(await isLinked("limit=3", a), false);
      await addMany(service, 17);
      assert.equal(await isLinked("x="), true); // of 21, 20 are answered
    },
  ),

  decided(
    "the next page keeps limit and status and drops what was ignored",
    async (service) => {
      const [a] = await addMany(service, 3);
      const from =
        `${service.base}/pets?status=available&limit=1&sort=name&after=${
          a - 1n
        }`;
      const next = linked(await get(service, from), { rel: "next", from });
      assert.ok(next !== undefined, "no next page is linked");
      const { origin, pathname, searchParams } = new URL(next);
      assert.equal(origin + pathname, `${service.base}/pets`);
      assert.deepEqual(
        [...searchParams].sort(),
        [["after", `${a}`], ["limit", "1"], ["status", "available"]],
      );
    },
  ),

  // ---- Animals ----

  decided(
    "a name has 1 to 255 code points and is kept exactly",
    async (service) => {
      const names = [
        " ",
        "🐕".repeat(255),
        "\u0080\u009f\u2028\ufeff\ufffd\u200b",
        "Zoe\u0308", // not composed to Zoë
        '"\\/',
      ];
      for (const name of names) {
        const pet = await add(service, { name });
        assert.equal(pet.name, name);
        const kept = petIn(await get(service, `/pets/${pet.id}`), 200);
        assert.equal(kept.name, name);
      }
    },
  ),

  ...REFUSED_MEMBERS.map(([by, what, member, values]) =>
    by(`createPet refuses ${what}`, async (service) => {
      for (const value of values) {
        assertRefused(await create(service, bodyWith(member, value)), 400);
      }
    })
  ),

  decided(
    "a 400 names the member that is wrong, and no other",
    async (service) => {
      for (const [, , member, values] of REFUSED_MEMBERS) {
        for (const value of values) {
          const answer = await create(service, bodyWith(member, value));
          const message = assertRefused(answer, 400);
          for (const other of ["name", "categoryId", "status"]) {
            assert.equal(message.includes(other), other === member, message);
          }
        }
      }
    },
  ),

  stated(
    "createPet takes a surrogate pair however it is spelled",
    async (service) => {
      const pet = '{"name":"\\uD83D\\udc15","categoryId":1}';
      assert.equal(petIn(await create(service, pet), 201).name, "🐕");
    },
  ),

  stated(
    "a categoryId is any int64, exact to the last digit in, stored and out",
    async (service) => {
      const exact = ["0", "1", "-1", "9007199254740993", INT64_MAX, INT64_MIN]
        .concat("-9007199254740993", "9223372036854775806");
      for (const categoryId of exact) {
        const name = newName();
        const sent = `{"name":"${name}","categoryId":${categoryId}}`;
        const created = petIn(await create(service, sent), 201);
        assert.equal(created.categoryId, BigInt(categoryId));
        const kept = petIn(await get(service, `/pets/${created.id}`), 200);
        assert.deepEqual(kept, created);
        assert.deepEqual(await named(service, name), [created]);
      }
    },
  ),

  decided(
    "a categoryId is an integer however JSON spells it",
    async (service) => {
      const spellings = [
        ["1.0", "1"],
        ["1e2", "100"],
        ["-0", "0"],
        ["922337203685477580.7e1", INT64_MAX],
      ];
      for (const [spelling = "", value] of spellings) {
        const answer = await create(service, bodyWith("categoryId", spelling));
        assert.equal(answer.status, 201, `${spelling}`);
        assert.match(answer.text, new RegExp(`"categoryId": ?${value}[,}]`));
      }
    },
  ),

  stated("getPet answers the animal", async (service) => {
    await add(service);
    const pet = await add(service, { categoryId: 2, status: "sold" });
    const answer = await get(service, `/pets/${pet.id}`);
    assert.deepEqual(petIn(answer, 200), pet);
  }),

  stated(
    "getPet answers 404 where there is no animal with the id",
    async (service) => {
      const { id } = await add(service);
      assert.equal((await get(service, `/pets/${id}`)).status, 200);
      for (const petId of [INT64_MAX, "0", "-1"]) {
        assertRefused(await get(service, `/pets/${petId}`), 404);
      }
    },
  ),

  decided(
    "getPet answers 404 where the id is no int64 in canonical form",
    async (service) => {
      const { id } = await add(service);
      const [first, ...rest] = `${id}`;
      const wrong = [
        `0${id}`,
        `${id}.0`,
        `+${id}`,
        `%3${first}${rest.join("")}`,
      ]
        .concat("x", "9223372036854775808", "1".repeat(2000), "%", "%FF");
      for (const petId of wrong) {
        assertRefused(await get(service, `/pets/${petId}`), 404);
      }
    },
  ),

  // ---- Creating ----

  stated(
    "createPet answers 201 with the animal and a new id",
    async (service) => {
      const pets: Pet[] = [];
      for (const status of STATUSES) {
        const sent = { name: `${newName()}, Zoë 🐕`, categoryId: 7, status };
        const pet = await add(service, sent);
        assert.deepEqual(pet, { ...sent, id: pet.id, categoryId: 7n });
        pets.push(pet);
      }
      assert.equal(new Set(pets.map(({ id }) => id)).size, pets.length);
    },
  ),

  decided("ids are positive int64s and ascend", async (service) => {
    const added = await addMany(service, 3);
    assert.ok(added[0] > 0n, `id ${added[0]}`);
    assert.deepEqual(added, [...new Set(added)].toSorted(order));
    assert.ok(added.every((id) => id <= BigInt(INT64_MAX)), `ids ${added}`);
  }),

  decided(
    "an animal whose status is left out is available",
    async (service) => {
      assert.equal((await add(service)).status, "available");
    },
  ),

  decided(
    "a 201 has the address of the animal in Location",
    async (service) => {
      const answer = await create(service, bodyOf());
      const { id } = petIn(answer, 201);
      const location = answer.headers.get("location");
      assert.ok(location !== null, "no Location");
      const address = new URL(location, `${service.base}/pets`).href;
      assert.equal(address, `${service.base}/pets/${id}`);
      assert.equal((await get(service, address)).text, answer.text);
    },
  ),

  decided(
    "createPet takes application/json in any case, or no Content-Type",
    async (service) => {
      const types = [
        undefined,
        "Application/JSON",
        'application/json ; charset="UTF-8"',
      ];
      for (const type of types) {
        const answer = await create(service, bodyOf(), {
          "content-type": type,
        });
        assert.equal(answer.status, 201, `${type}: ${answer.text}`);
      }
    },
  ),

  decided(
    "createPet refuses any other media type with 415 and Accept",
    async (service) => {
      const name = newName();
      const types = ["text/plain", "application/json; charset=utf-16"];
      for (const type of types) {
        const headers = { "content-type": type };
        const answer = await create(service, bodyOf({ name }), headers);
        assertRefused(answer, 415);
        assert.equal(answer.headers.get("accept"), "application/json");
      }
      assert.deepEqual(await named(service, name), []);
    },
  ),

  decided(
    "createPet refuses a Content-Encoding other than identity with 415",
    async (service) => {
      for (const coding of ["gzip", "identity, gzip"]) {
        const headers = { "content-encoding": coding };
        const answer = await create(service, bodyOf(), headers);
        assertRefused(answer, 415);
        assert.equal(answer.headers.get("accept"), "application/json");
      }
      const plain = { "content-encoding": "Identity" };
      assert.equal((await create(service, bodyOf(), plain)).status, 201);
    },
  ),

  decided("createPet refuses bytes that are not UTF-8", async (service) => {
    const sequences = [
      [0xff],
      [0xc0, 0xaf], // overlong
      [0xed, 0xa0, 0x80], // a surrogate
    ];
    const name = newName();
    for (const sequence of sequences) {
      const body = new Uint8Array([
        ...bytes(`{"name":"${name}","x":"R`),
        ...sequence,
        ...bytes('x","categoryId":1}'),
      ]);
      assertRefused(await create(service, body), 400);
    }
    assert.deepEqual(await named(service, name), []);
  }),

  decided(
    "createPet takes a body of 64 KiB, and refuses one byte more with 413",
    async (service) => {
      const full = bodyOf().padEnd(65_536);
      assert.equal((await create(service, full)).status, 201);
      assertRefused(await create(service, full + " "), 413);
    },
  ),

  decided(
    "createPet counts bytes, not characters, and takes a body in pieces",
    async (service) => {
      const stream = (total: number): ReadableStream<Uint8Array> =>
        new ReadableStream({
          start(controller) {
            const body = bodyOf();
            controller.enqueue(bytes(body));
            for (let left = total - body.length; left > 0; left -= 1000) {
              controller.enqueue(bytes(" ".repeat(Math.min(left, 1000))));
            }
            controller.close();
          },
        });
      assert.equal((await create(service, stream(65_536))).status, 201);
      assertRefused(await create(service, stream(65_537)), 413);
      const wide = bodyOf({ x: "é".repeat(33_000) });
      assertRefused(await create(service, wide), 413);
    },
  ),

  decided("one 400 names each member that is wrong", async (service) => {
    const wrong = '{"name":"","categoryId":1.5,"status":"gone"}';
    const message = assertRefused(await create(service, wrong), 400);
    assertSays(message, ["name", "categoryId", "status"]);
    assertSays(assertRefused(await create(service, "{}"), 400), [
      "name",
      "categoryId",
    ]);
  }),

  decided("a message says what is wrong", async (service) => {
    const says = async (answer: Promise<Answer>, words: RegExp) =>
      assert.match(assertRefused(await answer, (await answer).status), words);
    for (const [, , member, values, reason] of REFUSED_MEMBERS) {
      for (const value of values) {
        const answer = create(service, bodyWith(member, value));
        await says(answer, new RegExp(`${member} .*${reason}`));
      }
    }
    await says(
      create(service, '{"name":"","categoryId":1.5,"status":"gone"}'),
      /name .*empty.*categoryId .*integer.*status .*one of available, pending, sold/,
    );
    await says(
      create(service, "{}"),
      /name is required.*categoryId is required/,
    );
    await says(create(service, Uint8Array.of(0xff)), /UTF-8/);
    await says(create(service, tooMuch()), /65536/);
    await says(get(service, "/pets?limit=101"), /limit .*1 to 100.*"101"/);
    await says(get(service, "/pets?status="), /status .*available, pending, /);
    for (const name of ["limit", "status", "after"]) {
      const answer = get(service, `/pets?${name}=1&${name}=1`);
      await says(answer, new RegExp(`${name} must be one .*, not 2 values`));
    }
  }, { outside: WORDS }),

  stated(
    "a body that is missing, lacks a required field, or is no JSON object is 400",
    async (service) => {
      const name = newName();
      const pet = bodyOf({ name });
      const wrong = [
        undefined,
        "",
        "{",
        "null",
        "{}",
        `{"name":"${name}"}`,
        '{"categoryId":1}',
        `[${pet}]`,
        `${pet}${pet}`,
        `{"name":"${name}","categoryId":01}`,
        `{"__proto__":${pet}}`,
      ];
      for (const body of wrong) {
        assertRefused(
          await ask(
            service,
            "POST",
            "/pets",
            body === undefined ? {} : { body },
          ),
          400,
        );
      }
      assert.deepEqual(await named(service, name), []);
    },
  ),

  decided("a body that is nested too deeply is 400", async (service) => {
    const body = "[".repeat(30_000) + "]".repeat(30_000);
    assertRefused(await create(service, body), 400);
  }),

  // ---- Errors and authentication ----

  stated(
    "no key, or a wrong one, is 401 with an Error body, for every operation",
    async (service) => {
      const { id } = await add(service);
      for (const authorization of [undefined, "Bearer wrong", "Basic dTpw"]) {
        const headers = { authorization };
        const asked = [
          await get(service, "/pets", { headers }),
          await create(service, bodyOf(), headers),
          await get(service, `/pets/${id}`, { headers }),
        ];
        for (const answer of asked) assertRefused(answer, 401);
      }
    },
  ),

  decided(
    "no key is 401 with a challenge and without an error code",
    async (service) => {
      for (const authorization of [undefined, "Bearer", "Basic dTpw"]) {
        for (const operation of ["GET /pets", "POST /pets", "GET /pets/1"]) {
          const [method = "", path = ""] = operation.split(" ");
          const headers = { authorization };
          const answer = await ask(service, method, path, { headers });
          assertRefused(answer, 401);
          const challenge = answer.headers.get("www-authenticate");
          assert.equal(challenge, 'Bearer realm="petstore"');
        }
      }
    },
  ),

  stated("a key must be the whole key and no more", async (service) => {
    const { key } = service;
    for (const token of [`${key}x`, key.slice(0, -1), `${key},${key}`]) {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await get(service, "/pets", { headers });
      assertRefused(answer, 401);
      assert.ok(!answer.text.includes(token), "the answer has what was sent");
    }
  }),

  decided("a wrong key is 401 with the code invalid_token", async (service) => {
    for (const token of ["wrong", `${service.key}x`]) {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await get(service, "/pets", { headers });
      assertRefused(answer, 401);
      assert.equal(
        answer.headers.get("www-authenticate"),
        'Bearer realm="petstore", error="invalid_token"',
      );
    }
  }),

  decided("the scheme name is case-insensitive", async (service) => {
    for (const scheme of ["bEaReR", "Bearer  "]) {
      const answer = await get(service, "/pets", {
        headers: { authorization: `${scheme} ${service.key}` },
      });
      assert.equal(answer.status, 200, scheme);
    }
  }),

  stated("a key in the query or the body opens nothing", async (service) => {
    const path = `/pets?access_token=${encodeURIComponent(service.key)}`;
    assertRefused(await get(service, path, KEYLESS), 401);
  }),

  decided(
    "an error has one of the codes, and code, message and status alone",
    async (service) => {
      for (const answer of await answersOfAllKinds(service)) {
        if (answer.status >= 400) assertErrorBody(answer);
      }
    },
  ),

  decided(
    "every JSON response says so, and is neither guessed at nor kept",
    async (service) => {
      for (const { headers } of await answersOfAllKinds(service)) {
        assertJsonHeaders(headers);
      }
    },
  ),

  // ---- Deprecation ----

  decided(
    "every response of getPet says that it is deprecated",
    async (service) => {
      const { id } = await add(service);
      const from = `${service.base}/pets/${id}`;
      const answers = [
        await get(service, from),
        await ask(service, "HEAD", from),
        await get(service, `/pets/${INT64_MAX}`),
        await get(service, "/pets/x"),
        await get(service, from, KEYLESS),
      ];
      assert.deepEqual(answers.map(({ status }) => status), [
        200,
        200,
        404,
        404,
        401,
      ]);
      for (const answer of answers) {
        assert.equal(
          answer.headers.get("sunset"),
          "Thu, 05 Dec 2030 00:00:00 GMT",
        );
        assert.equal(answer.headers.get("deprecation"), "@1764892800");
        assert.equal(
          linked(answer, { rel: "successor-version", from }),
          `${service.base}/pets`,
        );
      }
    },
  ),
];

/** Adds pets, three or more, and returns their ids. */
async function addMany(
  service: OpenService,
  count: number,
): Promise<readonly [bigint, bigint, bigint, ...bigint[]]> {
  const one = async () => (await add(service)).id;
  const added: [bigint, bigint, bigint, ...bigint[]] = [
    await one(),
    await one(),
    await one(),
  ];
  while (added.length < count) added.push(await one());
  return added;
}

/** Answers of every operation, and all the errors that `fetch` can bring about. */
async function answersOfAllKinds(
  service: OpenService,
): Promise<readonly Answer[]> {
  const text = { "content-type": "text/plain" };
  return [
    await create(service, bodyOf()),
    await get(service, "/pets"),
    await get(service, `/pets/${(await add(service)).id}`),
    await create(service, "{}"),
    await get(service, "/pets", KEYLESS),
    await get(service, `/pets/${INT64_MAX}`),
    await ask(service, "PUT", "/pets"),
    await create(service, tooMuch()),
    await create(service, bodyOf(), text),
  ];
}

/** A create with one member as it is given, as JSON, and the others as they should be. */
function bodyWith(member: string, value: string): string {
  const pet = { name: `"${newName()}"`, categoryId: "1", [member]: value };
  return `{${Object.entries(pet).map(([key, text]) => `"${key}":${text}`)}}`;
}

function assertSays(message: string, words: readonly string[]): void {
  for (const word of words) {
    assert.ok(message.includes(word), `no ${word} in ${message}`);
  }
}

/** The methods of `Allow`, in order of the alphabet. */
function allowed({ headers }: Answer): string | undefined {
  return headers.get("allow")?.split(/ *, */).sort().join(", ");
}

function ids(answer: Answer): bigint[] {
  return petsIn(answer).map(({ id }) => id);
}

function order(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function byId(a: Pet, b: Pet): number {
  return order(a.id, b.id);
}

/** The fields that `handle` sets; servers add others (`Date`, `Connection`, …). */
function fields({ headers }: Answer): Record<string, string | null> {
  const names = [
    "allow",
    "cache-control",
    "content-type",
    "deprecation",
    "link",
    "location",
    "sunset",
    "www-authenticate",
    "x-content-type-options",
  ];
  return Object.fromEntries(names.map((name) => [name, headers.get(name)]));
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function tooMuch(): Uint8Array {
  return new Uint8Array(65_537);
}
