/**
 * Laws of what createPet accepts. The oracle is written from the contract; it checks the generated
 * JSON before it is written as text, and shares nothing with the core.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { parseInt64, parseWithInt64 } from "../../core/int64.ts";
import {
  anyBody,
  denotedInt64,
  int64,
  type Json,
  parseJson,
  spell,
  whims,
  write,
} from "./any_body.ts";
import { ask } from "../contract/ask.ts";
import { assertError } from "../contract/error_reply.ts";
import { handleService } from "../support/handle_service.ts";
import { fc, joined, runs } from "../support/property.ts";

// ---- The oracle ----

interface Animal {
  readonly name: string;
  readonly categoryId: bigint;
  readonly status: string;
}

/**
 * Returns the pet that a body asks for, or the names of everything wrong (`body` for all of it).
 */
function expectedOf(body: Json): Animal | readonly string[] {
  if (typeof body === "string" || !("members" in body)) return ["body"];
  const last = new Map(body.members); // of repeated members the last one counts
  const name = textOf(last.get("name"));
  const categoryId = int64Of(last.get("categoryId"));
  const status = last.has("status") ? textOf(last.get("status")) : "available";
  const isStatus = /^(?:available|pending|sold)$/.test(status ?? "");
  const isNamed = name !== undefined && isName(name);
  if (
    isNamed && categoryId !== undefined && isStatus && status !== undefined
  ) return { name, categoryId, status };
  return [
    ...isNamed ? [] : ["name"],
    ...categoryId === undefined ? ["categoryId"] : [],
    ...isStatus ? [] : ["status"],
  ];
}

function textOf(json: Json | undefined): string | undefined {
  return typeof json === "object" && "text" in json ? json.text : undefined;
}

function int64Of(json: Json | undefined): bigint | undefined {
  return typeof json === "object" && "literal" in json
    ? denotedInt64(spell(json.literal))
    : undefined;
}

/**
 * Tells whether a text has 1 to 255 code points, none of them a control character or half of a
 * pair.
 */
function isName(text: string): boolean {
  const points = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  return points.length >= 1 && points.length <= 255 &&
    points.every((point) =>
      point > 0x1f && point !== 0x7f && (point < 0xd800 || point > 0xdfff)
    );
}

// ---- The laws ----

// Law: a body is accepted exactly if it is a NewPet, and then returned as meant; otherwise the
// message names exactly the wrong members (decision: several problems).
test("createPet takes JSON exactly if it is a pet, and names each member that is wrong", async () => {
  await fc.assert(
    fc.asyncProperty(anyBody, whims, async (body, whims) => {
      const service = handleService();
      const sent = { body: write(body, whims) };
      const answer = await ask(service, "POST", "/pets", sent);
      const expected = expectedOf(body);
      if ("categoryId" in expected) {
        const { categoryId, ...rest } = expected;
        assert.equal(answer.status, 201, answer.text);
        assert.match(answer.text, RegExp(`"categoryId":${categoryId}[,}]`));
        const shown = JSON.parse(answer.text);
        delete shown.categoryId;
        assert.deepEqual(shown, { id: 1, ...rest });
        return;
      }
      const message = assertError(answer, "bad_request");
      assert.equal((await ask(service, "GET", "/pets")).text, "[]");
      if (expected.includes("body")) return;
      const members = ["name", "categoryId", "status"];
      const named = members.filter((name) =>
        RegExp(`\\b${name}\\b`).test(message)
      );
      assert.deepEqual(named, expected, message);
    }),
    runs(1500),
  );
});

const anyBodies = fc.oneof(
  anyBody,
  fc.array(anyBody, { maxLength: 3 }).map((items): Json => ({ items })),
);

// Law: parseWithInt64 acts as parseJson for some members of the outermost object, or of those in
// the outermost array, and as JSON.parse for everything else.
test("parseWithInt64 reads outermost members exactly, and all else as JSON.parse", () => {
  fc.assert(
    fc.property(anyBody, anyBodies, whims, (inner, outer, whims) => {
      const nested = typeof outer === "object" && "members" in outer
        ? {
          members: [["first", inner], ...outer.members, [
            "last",
            inner,
          ]] as const,
        }
        : outer;
      const text = write(nested, whims);
      const expected = JSON.parse(text);
      const exact = parseJson(text);
      for (const [i, item] of [exact].flat().entries()) {
        for (const name of ["first", "categoryId"]) {
          const value = (item as Record<string, unknown> | null)?.[name];
          const target = Array.isArray(exact) ? expected[i] : expected;
          if (typeof value === "bigint") target[name] = value;
        }
      }
      assert.deepEqual(parseWithInt64(text, "first", "categoryId"), expected);
    }),
    runs(1500),
  );
});

// Law: parseInt64 reads the decimal form of every int64, and nothing else.
test("parseInt64 reads exactly the texts that int64 are written as", () => {
  const near = joined(
    fc.constantFrom("", "", "-", "+", "0", " "),
    fc.bigInt({ min: -(2n ** 63n) - 9n, max: 2n ** 63n + 9n }).map(String),
    fc.constantFrom("", "", "0", ".0", "n", " "),
  );
  fc.assert(fc.property(fc.oneof(near, fc.string()), (text) => {
    const value = parseInt64(text);
    if (value === undefined) return;
    assert.equal(`${value}`, text);
    assert.equal(BigInt.asIntN(64, value), value);
  }));
  fc.assert(fc.property(int64, (value) => {
    assert.equal(parseInt64(`${value}`), value);
  }));
});
