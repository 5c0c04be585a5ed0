/** Laws of int64: exact to the last digit, in, stored and out (decision: `categoryId`). */
import assert from "node:assert/strict";
import test from "node:test";
import { parseInt64, parseJson } from "../../core/json.ts";
import { ask } from "../contract/ask.ts";
import { assertError } from "../contract/error_reply.ts";
import { handleService } from "../contract/handle_service.ts";
import { denotedInt64, numberLiteral, spell } from "./json_number_oracle.ts";
import { fc, runs } from "../support/property.ts";

const int64 = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.bigInt({ min: 2n ** 53n - 2n, max: 2n ** 53n + 2n }),
  fc.constantFrom(-(2n ** 63n), 2n ** 63n - 1n, 0n, -1n),
);

// Law: what goes in as an int64 comes out as the same digits, from createPet, getPet and listPets.
test("every int64 comes back from every operation as it was sent", async () => {
  await fc.assert(fc.asyncProperty(int64, async (categoryId) => {
    const service = handleService();
    const pet =
      `{"id":1,"name":"Rex","categoryId":${categoryId},"status":"sold"}`;
    const created = await ask(service, "POST", "/pets", {
      body: `{"categoryId":${categoryId},"status":"sold","name":"Rex"}`,
    });
    assert.equal(created.status, 201);
    assert.equal(created.text, pet);
    assert.equal((await ask(service, "GET", "/pets/1")).text, pet);
    assert.equal((await ask(service, "GET", "/pets")).text, `[${pet}]`);
  }));
});

// Law: a number is an int64 where its exact value is one, however it is spelled (JSON Schema,
// Core §6.3: 1.0 is an integer); else it is refused and nothing is added.
test("createPet takes a number exactly where its value is an int64", async () => {
  await fc.assert(
    fc.asyncProperty(numberLiteral, async (literal) => {
      const service = handleService();
      const value = denotedInt64(literal);
      const answer = await ask(service, "POST", "/pets", {
        body: `{"name":"Rex","categoryId":${spell(literal)}}`,
      });
      if (value === undefined) {
        assert.match(assertError(answer, "bad_request"), /categoryId/);
        assert.equal((await ask(service, "GET", "/pets")).text, "[]");
      } else {
        assert.equal(answer.status, 201, answer.text);
        assert.ok(answer.text.includes(`"categoryId":${value},`), answer.text);
      }
    }),
    runs(1000),
  );
});

// Law: parseJson gives a bigint exactly for the numbers that are int64, wherever they stand.
test("parseJson makes a bigint of a number exactly where its value is an int64", () => {
  fc.assert(
    fc.property(numberLiteral, (literal) => {
      const text = spell(literal);
      const expected = denotedInt64(literal) ?? Number(text);
      assert.deepEqual(parseJson(text), expected);
      assert.deepEqual(parseJson(`{"a":[ ${text}\t]}`), { a: [expected] });
    }),
    runs(2000),
  );
});

// Law: how a text is read depends on nothing that stands beside it. A long number is read by a reviver,
// and so is all that is with it; what has none is not.
test("parseJson reads a text alike, whether or not a long number is beside it", () => {
  const short = fc.jsonValue({ noUnicodeString: false }).map((value) =>
    JSON.stringify(
      value,
      (_, each) => typeof each === "number" ? Math.trunc(each % 1e15) : each,
    )
  );
  const text = fc.oneof(
    short,
    numberLiteral.map(spell),
    fc.constantFrom("-0", '{"__proto__":7,"a":[]}', '{"a":1,"a":[-0]}'),
  );
  fc.assert(
    fc.property(text, (text) => {
      const beside = parseJson(`[${text},1234567890123456]`);
      assert.deepEqual(beside, [parseJson(text), 1234567890123456n]);
    }),
    runs(1000),
  );
});

// Law: but for numbers, parseJson is JSON.parse; a text is refused by both or by neither.
test("parseJson is JSON.parse for all that has no number in it", () => {
  const value = fc.jsonValue({ noUnicodeString: false }).map((value) =>
    JSON.parse(
      JSON.stringify(
        value,
        (_, each) => typeof each === "number" ? `${each}` : each,
      ),
    )
  );
  fc.assert(fc.property(value, (value) => {
    assert.deepEqual(parseJson(JSON.stringify(value)), value);
  }));
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: fc.constantFrom(...'{}[]",:0-1.e+tfn\\u') }),
  );
  fc.assert(fc.property(text, (text) => {
    const accepts = (parse: (text: string) => unknown): boolean => {
      try {
        parse(text);
        return true;
      } catch {
        return false;
      }
    };
    assert.equal(accepts(parseJson), accepts(JSON.parse));
  }));
});

// Law: parseInt64 reads the decimal form of every int64, and of nothing else.
test("parseInt64 reads exactly the texts that int64 are written as", () => {
  const near = fc.tuple(
    fc.constantFrom("", "", "-", "+", "0", " "),
    fc.bigInt({ min: -(2n ** 63n) - 9n, max: 2n ** 63n + 9n }),
    fc.constantFrom("", "", "0", ".0", "n", " "),
  ).map((parts) => parts.join(""));
  fc.assert(fc.property(fc.oneof(near, fc.string()), (text) => {
    const value = parseInt64(text);
    if (value !== undefined) {
      assert.equal(`${value}`, text);
      assert.equal(BigInt.asIntN(64, value), value);
    }
  }));
  fc.assert(fc.property(int64, (value) => {
    assert.equal(parseInt64(`${value}`), value);
  }));
});
