/** Choices that the interface leaves open, and the mistakes that each hides. */

import assert from "node:assert/strict";
import type { OpenService } from "../../contract/ask.ts";
import {
  type Changes,
  each,
  filteredLate,
  MISTAKES,
  refusing,
  round,
  takes,
  token,
} from "./mistakes.ts";
import {
  type At,
  type Change,
  type Pet,
  refusal,
  STATUSES,
  storeWith,
  type Told,
} from "./switchable_store.ts";

/** Refuses pets with 400. */
const refuses = (
  isRefused: (sent: Required<At["sent"]> & Pet, at: At) => boolean,
): Change =>
  refusing(400)((at, right) =>
    right === 0 && at.sent.name !== undefined &&
    isRefused(at.sent as Required<At["sent"]> & Pet, at)
  );

/** Answers an invalid query otherwise. */
const atBadQuery = (change: (told: Told, at: At) => Partial<Told>): Change => ({
  told(told, at) {
    const { operation, query } = at;
    const isBad = operation === "list" && told.status !== 401 &&
      (!STATUSES.includes(query.get("status") ?? "sold") ||
        !/^(?:[1-9]\d?|100)$/.test(query.get("limit") ?? "1"));
    return isBad ? { ...told, ...change(told, at) } : told;
  },
});

const atOddId = (status: number): Change =>
  refusing(status)(({ petId }, right) =>
    right === 0 && !/^$|^-?\d{1,19}$/.test(petId)
  );

const sortedBy = (by: (pet: Pet) => string): Change => ({
  ordered: (pets) => pets.toSorted((a, b) => by(a) < by(b) ? -1 : 1),
});

const dice = (sides: number): number => Math.floor(Math.random() * sides);

/** Gives each pet a random id with these bits. */
const scattered = (bits: number): Change => ({
  id: () =>
    BigInt.asUintN(
      bits,
      crypto.getRandomValues(new BigUint64Array(1))[0] ?? 0n,
    ),
});
/** Lists the pets with greater ids, in the order of ids, if `after` is sent. */
const keyset: Change = {
  ...sortedBy(({ id }) => `${id}`.padStart(20, "0")),
  filtered(pets, { query }) {
    const after = query.get("after");
    return after === null ? pets : pets.filter(({ id }) => id > BigInt(after));
  },
};
const JSON_TYPE = "application/json";
const linkless: Change = { link: () => "" };
const shuffled: Change = {
  ordered: (pets) =>
    pets.map((pet) => [Math.random(), pet] as const).sort(([a], [b]) => a - b)
      .map(([, pet]) => pet),
};

/** Accepts the extensions of JSON that a parser may accept (RFC 8259 §9). */
const json5 = (pattern: RegExp, json: string): Change =>
  takes((body) => body.replace(pattern, json));

const UNLINKED = /newest hundred|skips/;

/** Choices, by their names. */
export const CHOICES: Changes = {
  // ---- Ids ----
  "ids start at 0": { id: (id) => id - 1n },
  "ids go down from -1": { id: (id) => -id },
  "ids go down from the greatest": { id: (id) => 2n ** 63n - id },
  "ids are beyond 2^53": { id: (id) => 2n ** 60n + id },
  "ids are multiples of 2^33": { id: (id) => id << 33n },
  // ---- Order and pages ----
  "the newest comes first": { ordered: (pets) => pets.toReversed() },
  "pets come by name": sortedBy(({ name }) => name),
  "pets come by status": sortedBy(({ status, id }) => `${status} ${id}`),
  "ids are listed after another": keyset,
  "no page links the next": linkless,
  "pages link by cursor among other links": {
    link: (link) =>
      link.replace("page=", "cursor=c").replace(/^<[^?]*/, "<")
        .replace(/^/, '<x>; title="a, b"; rel="first last", ')
        .replace(/"prefetch next"/, "next"),
  },
  "pages link elsewhere": {
    link: () => '<https://elsewhere.example/v1/pets?page=9>; rel="next"',
  },
  "pages link in a circle": {
    link: (_link, { address }) => `<${address}>; rel="next"`,
  },
  "pages link to a failure": {
    link: () => '<?page=x>; rel="next"',
    ...refusing(500)(({ query }) => query.get("page") === "x"),
  },
  "pages overlap": {
    next: (next, { limit }) => limit > 1 ? next - 1 : next,
  },
  "every page links the next, if it has pets": {
    isLinked: () => true,
    told: ({ link, ...told }) =>
      `${told.body}` === "" ? told : { ...told, link },
  },
  "pages have 7 pets": { limit: (limit) => Math.min(limit, 7) },
  "a page is filtered after it is cut": {
    ...filteredLate,
    filtered: (_pets, { ordered }) => ordered,
  },
  "the store has 30 pets": { size: () => 30 },
  "the store has 250 pets": { size: () => 250 },
  "the store has 60 pets and no links": { size: () => 60, ...linkless },
  "the store has 150 pets and no links": { size: () => 150, ...linkless },
  // ---- JSON and errors ----
  "pets have more members": {
    shown: (pet) =>
      ({
        _links: { self: `/${pet.id}` },
        tags: [],
        weight: 1.5,
        owner: null,
        ...pet,
      }) as Pet,
  },
  "errors have more members": {
    told: (told) =>
      told.status < 400
        ? told
        : { ...told, body: { details: [{ a: 1 }], ...Object(told.body) } },
  },
  ...each((type: string) => ({ told: (told: Told) => ({ type, ...told }) }), {
    "JSON has a charset": "application/json; charset=utf-8",
    "JSON is in capitals": "Application/JSON",
  }),
  ...each((text: (text: string) => string) => ({ text }), {
    "integers end in .0": (text) =>
      text.replaceAll(/(?<="(?:id|categoryId)":)-?\d+/g, "$&.0"),
    "JSON is indented": (text) =>
      text.replaceAll(/[{,]"/g, (start) => `${start[0]}\n  "`),
    "JSON is ASCII": (text) =>
      text.replaceAll(
        /[^ -~]/g,
        (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
      ),
  }),
  // ---- Pets ----
  "a status that is left out is pending": {
    kept: (pet, { sent }) => ({ ...pet, status: sent.status ?? "pending" }),
  },
  "a status that is left out stays away": {
    kept: (pet, { sent }) => ({ ...pet, status: sent.status }),
  },
  ...each(refuses, {
    "unknown members are 400": (sent) =>
      Object.keys(sent).some((name) =>
        !/^(?:name|categoryId|status)$/.test(name)
      ),
    "categories beyond 32 bits are 400": ({ categoryId: id }) =>
      id !== BigInt.asIntN(32, id),
    "categories beyond 2^53 are 400": ({ categoryId: id }) => id !== round(id),
    "categories below 1 are 400": ({ categoryId }) => categoryId < 1n,
    "categories other than 1 are 400": ({ categoryId }) => categoryId !== 1n,
    "names over 40 are 400": ({ name }) => name.length > 40,
    "names over 20 are 400": ({ name }) => name.length > 20,
    "blank names are 400": ({ name }) => name.trim() !== name,
    "names with spaces are 400": ({ name }) => /\s/.test(name),
    "names that are not ASCII are 400": ({ name }) => /[^\0-\x7f]/.test(name),
    "names with other than letters are 400": ({ name }) =>
      /[^A-Za-z]/.test(name),
    "names with control characters are 400": ({ name }) => /\p{Cc}/u.test(name),
    "names beyond U+FFFF are 400": ({ name }) => /[^\0-\uffff]/u.test(name),
    "names with marks are 400": ({ name }) => name !== name.normalize("NFC"),
    "names that are taken are 400": ({ name }, { pets }) =>
      pets.some((pet) => pet.name === name),
  }),
  ...each(
    (most: number) =>
      refusing(413)(({ body }, right) => right === 0 && body.length > most),
    { "bodies over 1 KiB are 413": 1024, "bodies over 4 KiB are 413": 4096 },
  ),
  "trailing commas are taken": json5(/,\s*\}$/, "}"),
  "comments are taken": json5(/\/\*.*?\*\/|\/\/.*\n/, ""),
  "hexadecimal is taken": json5(/(?<="categoryId":)0x\w+/, "1"),
  "NaN is taken": json5(/(?<="categoryId":)NaN/, "0"),
  "single quotes are taken": json5(/^\{'.*/, '{"name":"Rex","categoryId":1}'),
  "leading zeros are taken": json5(/(?<="categoryId":)0+(?=\d)/, ""),
  "a byte order mark is taken": json5(/^\ufeff/, ""),
  // ---- Requests ----
  ...each(atBadQuery, {
    "an invalid query is 400": () => refusal(400),
    "an invalid query is 422": () => refusal(422),
    "an invalid query lists nothing": () => ({ body: [] }),
  }),
  ...each(atOddId, { "an odd petId is 400": 400, "an odd petId is 422": 422 }),
  "unknown parameters are 400": refusing(400)(({ query }, right) =>
    right === 0 && /\b(?!limit|status|page|cursor)\w+=/.test(`${query}`)
  ),
  "another media type is 415": refusing(415)(({ headers, operation }, right) =>
    right !== 401 && operation === "create" &&
    /^(?!application\/json)/.test(headers.get("content-type") ?? JSON_TYPE)
  ),
  "other keys are valid, too": token((token) => token === "another"),
};

/** Choices with chance in them. */
export const CHANCES: Changes = {
  "ids are scattered": scattered(31),
  "ids are scattered beyond 2^53": scattered(63),
  "ids are scattered and listed in their order": {
    ...scattered(63),
    ...keyset,
  },
  "ids begin with the category": {
    id: (id, { sent }) =>
      2n ** 40n * BigInt.asUintN(20, sent.categoryId ?? 1n) + id,
    ...keyset,
  },
  "ids begin with the status": {
    id: (id, { sent }) =>
      2n ** 40n * BigInt(STATUSES.indexOf(sent.status ?? "sold")) + id,
    ...keyset,
  },
  "ids have gaps": { id: (id) => id * 1000n + BigInt(dice(1000)) },
  "the order is another each time": shuffled,
  "the order is another each time, without links": { ...shuffled, ...linkless },
  "a status that is left out is any": {
    kept: (pet, { sent }) => ({
      ...pet,
      status: sent.status ?? STATUSES[dice(3)],
    }),
  },
  "answers take a while": { pauses: () => [0, dice(3)] },
};

/** A store with these mistakes and choices. */
export function storeOf(...names: readonly string[]): OpenService {
  const all = { ...MISTAKES, ...CHOICES, ...CHANCES };
  return storeWith(names.map((name) => all[name] ?? assert.fail(name)));
}

/** The mistakes that cannot be seen if a store takes a choice: docs/judge.md says why. */
export const HIDDEN: Readonly<Record<string, RegExp>> = {
  "ids go down from the greatest": /greatest id/,
  "no page links the next": UNLINKED,
  "pages link elsewhere": UNLINKED,
  "pages link in a circle": UNLINKED,
  "pages link to a failure": UNLINKED,
  "pages overlap": /skips/,
  "a page is filtered after it is cut": /^the (?:filter|listing lacks sold)/,
  "the store has 30 pets": /empty list/,
  "the store has 250 pets": /empty list/,
  "the store has 60 pets and no links": /empty list|newest hundred|skips/,
  "the store has 150 pets and no links":
    /in the listing|(?:doubles|64) with|but the pet is added|listing lacks|filter finds no|not found|empty list|newest hundred|skips/,
  "unknown members are 400": /^the id of the body/,
  "categories beyond 32 bits are 400": /^categories (?:are d|wrap at 32|end)/,
  "categories beyond 2^53 are 400": /^categories (?:are d|end)/,
  "categories below 1 are 400": /^categories are positive/,
  "categories other than 1 are 400": /^categories (?!wrap at 64)/,
  "names over 40 are 400": /^names are cut at (?!32)/,
  "names over 20 are 400":
    /^names (?:are (?:cut|esc|re)|lose b|double)|^Tib|three b|beyond U/,
  "blank names are 400": /trimmed/,
  "names with spaces are 400": /trimmed|single spaces|names are re/,
  "names that are not ASCII are 400":
    /NF|surrogates are|pieces|Tib|three b|beyond U/,
  "names with other than letters are 400":
    /^names (?!are cut|are low|of)|^dates|surrogates are|pieces|Tib|three b|beyond U|letters are/,
  "names with control characters are 400": /control characters/,
  "names beyond U+FFFF are 400": /surrogates are|pieces|beyond U/,
  "names with marks are 400": /NF[CD]/,
  "names that are taken are 400": /an equal pet/,
  "an odd petId is 400": /end of an id|as 64 bits|underscores/,
  "an odd petId is 422": /end of an id|as 64 bits|underscores/,
  "an invalid query is 400": /no end/,
  "an invalid query is 422": /no end/,
  "an invalid query lists nothing": /no end/,
};
