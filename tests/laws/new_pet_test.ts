/**
 * Laws of NewPet. The oracle is written from the contract and the table of decisions; it judges the
 * JSON that was generated, before it was spelled out, and shares nothing with `core/pets/pet.ts`.
 */
import assert from "node:assert/strict";
import test from "node:test";
import { ask } from "../contract/ask.ts";
import { assertError } from "../contract/error_reply.ts";
import { handleService } from "../contract/handle_service.ts";
import {
  denotedInt64,
  type NumberLiteral,
  numberLiteral,
  spell,
} from "./json_number_oracle.ts";
import { fc, runs } from "../support/property.ts";

/** A JSON value as it stands in a text: numbers are literals, members may be repeated. */
type Json =
  | { readonly kind: "word"; readonly word: "null" | "true" | "false" }
  | { readonly kind: "number"; readonly literal: NumberLiteral }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "array"; readonly items: readonly Json[] }
  | {
    readonly kind: "object";
    readonly members: readonly (readonly [name: string, value: Json])[];
  };

// ---- The oracle ----

interface Animal {
  readonly name: string;
  readonly categoryId: bigint;
  readonly status: string;
}

/** The animal that a body asks for, or the names of all that is wrong (`body` for all of it). */
function judge(body: Json): Animal | readonly string[] {
  if (body.kind !== "object") return ["body"];
  const last = new Map(body.members); // of repeated members the last one counts
  const name = last.get("name");
  const categoryId = last.get("categoryId");
  const status = last.get("status");
  const faults: string[] = [];
  if (name?.kind !== "string" || !isName(name.value)) faults.push("name");
  const integer = categoryId?.kind === "number"
    ? denotedInt64(categoryId.literal)
    : undefined;
  if (integer === undefined) faults.push("categoryId");
  const isStatus = status === undefined ||
    (status.kind === "string" &&
      (status.value === "available" || status.value === "pending" ||
        status.value === "sold"));
  if (!isStatus) faults.push("status");
  if (faults.length > 0 || integer === undefined || name?.kind !== "string") {
    return faults;
  }
  return {
    name: name.value,
    categoryId: integer,
    status: status?.kind === "string" ? status.value : "available",
  };
}

/** 1 to 255 code points, none of them a control character or half of a pair. */
function isName(text: string): boolean {
  let count = 0;
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    if (point <= 0x1f || point === 0x7f) return false;
    if (point >= 0xd800 && point <= 0xdfff) return false;
    count++;
  }
  return count >= 1 && count <= 255;
}

// ---- The generators ----

const utf16 = fc.string({
  unit: fc.oneof(
    fc.integer({ min: 0, max: 0xffff }).map((n) => String.fromCharCode(n)),
    fc.integer({ min: 0xd7ff, max: 0xe000 }).map((n) => String.fromCharCode(n)),
  ),
});

const text: fc.Arbitrary<string> = fc.oneof(
  { arbitrary: fc.string({ unit: "grapheme", maxLength: 10 }), weight: 4 },
  fc.string({ unit: "binary", minLength: 250, maxLength: 260 }),
  fc.tuple(
    fc.constantFrom("x", "é", "🐕", " "),
    fc.integer({ min: 253, max: 257 }),
  )
    .map(([unit, count]) => unit.repeat(count)),
  utf16,
  fc.constantFrom("", " ", "\u0000", "\u001f", "\u007f", "\u0080", "\ufeff"),
  fc.constantFrom("available", "pending", "sold", "Sold", "toString"),
);

const string: fc.Arbitrary<Json> = text.map((value) => ({
  kind: "string",
  value,
}));
const number: fc.Arbitrary<Json> = numberLiteral.map((literal) => ({
  kind: "number",
  literal,
}));
const word: fc.Arbitrary<Json> = fc.constantFrom("null", "true", "false")
  .map((word) => ({ kind: "word", word }) as const);

const { value: anyJson } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    word,
    number,
    string,
    fc.array(tie("value"), { maxLength: 3 }).map((items) =>
      ({ kind: "array", items }) as const
    ),
    fc.array(
      fc.tuple(
        fc.oneof(fc.constantFrom("name", "categoryId", "status"), text),
        tie("value"),
      ),
      { maxLength: 4 },
    ).map((members) => ({ kind: "object", members }) as const),
  ),
}));

/** Bodies that are animals, or nearly so: each member right, wrong or left out, and others between. */
const nearlyPet: fc.Arbitrary<Json> = fc.tuple(
  fc.option(fc.oneof({ arbitrary: string, weight: 9 }, anyJson), { freq: 9 }),
  fc.option(fc.oneof({ arbitrary: number, weight: 9 }, anyJson), { freq: 9 }),
  fc.option(
    fc.oneof(
      {
        arbitrary: fc.constantFrom("available", "pending", "sold").map(
          (value) => ({ kind: "string", value }) as const,
        ),
        weight: 4,
      },
      anyJson,
    ),
  ),
  fc.array(
    fc.tuple(
      fc.oneof(
        text,
        fc.constantFrom("id", "__proto__", "constructor", "name", "Name"),
      ),
      anyJson,
    ),
    { maxLength: 2 },
  ),
  fc.nat(),
).map(([name, categoryId, status, others, turn]) => {
  const members: (readonly [string, Json])[] = [...others];
  if (name !== null) members.push(["name", name]);
  if (categoryId !== null) members.push(["categoryId", categoryId]);
  if (status !== null) members.push(["status", status]);
  const at = turn % (members.length + 1);
  return {
    kind: "object",
    members: [...members.slice(at), ...members.slice(0, at)],
  };
});

/** Numbers that decide how a text is spelled, taken round and round. */
const whims = fc.array(fc.nat(7), { minLength: 1, maxLength: 20 });

/** JSON text of a value: escapes and whitespace where the whims will have them. */
function write(body: Json, whims: readonly number[]): string {
  let turn = 0;
  const whim = (): number => whims[turn++ % whims.length] ?? 0;
  const space = (): string =>
    ["", "", "", "", " ", "\t", "\n", "\r\n"][whim()] ?? "";

  function quoted(value: string): string {
    let text = '"';
    for (let i = 0; i < value.length; i++) {
      const unit = value.charAt(i);
      const code = value.charCodeAt(i);
      const isBare = code >= 0x20 && unit !== '"' && unit !== "\\" &&
        (code < 0xd800 || code > 0xdfff);
      const hex = code.toString(16).padStart(4, "0");
      if (isBare && whim() < 6) text += unit;
      else if (unit === "/") text += "\\/";
      else if (unit === "\n") text += "\\n";
      else text += `\\u${whim() < 4 ? hex : hex.toUpperCase()}`;
    }
    return `${text}"`;
  }

  function any(value: Json): string {
    const inner = ((): string => {
      switch (value.kind) {
        case "word":
          return value.word;
        case "number":
          return spell(value.literal);
        case "string":
          return quoted(value.value);
        case "array":
          return `[${space()}${value.items.map(any).join(",")}]`;
        case "object":
          return `{${space()}${
            value.members.map(([name, each]) =>
              `${space()}${quoted(name)}${space()}:${any(each)}`
            ).join(",")
          }}`;
      }
    })();
    return space() + inner + space();
  }

  return any(body);
}

// ---- The laws ----

async function check(body: Json, whims: readonly number[]): Promise<void> {
  const service = handleService();
  const answer = await ask(service, "POST", "/pets", {
    body: write(body, whims),
  });
  const expected = judge(body);
  if (!("categoryId" in expected)) {
    const message = assertError(answer, "bad_request");
    assert.equal((await ask(service, "GET", "/pets")).text, "[]");
    if (expected.includes("body")) return;
    for (const member of ["name", "categoryId", "status"]) {
      const isNamed = new RegExp(`\\b${member}\\b`).test(message);
      assert.equal(isNamed, expected.includes(member), message);
    }
    return;
  }
  assert.equal(answer.status, 201, answer.text);
  const { categoryId, ...rest } = expected;
  assert.ok(answer.text.includes(`"categoryId":${categoryId},`), answer.text);
  const { categoryId: _, ...shown } = JSON.parse(answer.text);
  assert.deepEqual(shown, { id: 1, ...rest });
}

// Law: a body is taken exactly where it is a NewPet, and then comes back as it was meant; else the
// message names exactly the members that are wrong (decision: several problems).
test("createPet takes nearly-animals exactly where they are animals", async () => {
  await fc.assert(fc.asyncProperty(nearlyPet, whims, check), runs(2000));
});

// Law: the same for any JSON at all.
test("createPet takes no JSON that is no animal", async () => {
  await fc.assert(fc.asyncProperty(anyJson, whims, check), runs(500));
});
