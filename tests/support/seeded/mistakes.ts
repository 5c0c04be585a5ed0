/** Mistakes of a pet store, by the clause that each breaks. */

import {
  type At,
  type Change,
  KEY,
  linkTo,
  NOBODY,
  type Pet,
  refusal,
  STATUSES,
  type Told,
} from "./switchable_store.ts";

export type Changes = Readonly<Record<string, Change>>;

/** Makes a change of each value. */
export function each<T>(
  make: (how: T) => Change,
  all: Readonly<Record<string, T>>,
): Changes {
  return Object.fromEntries(
    Object.entries(all).map(([title, how]) => [title, make(how)]),
  );
}

/** Makes a change of each word of a text. */
function eachWord(
  text: string,
  title: (word: string) => string,
  make: (word: string) => Change,
): Changes {
  const words = text.split(" ");
  return Object.fromEntries(words.map((word) => [title(word), make(word)]));
}

/** Tells otherwise, in some cases. */
function told(
  isWrong: (told: Told, at: At) => boolean,
  change: (told: Told) => Partial<Told>,
): Change {
  return {
    told: (told, at) => isWrong(told, at) ? { ...told, ...change(told) } : told,
  };
}

/** Tells otherwise in several ways. */
function toldAs(
  isWrong: (told: Told, at: At) => boolean,
  changes: Readonly<Record<string, (told: Told) => Partial<Told>>>,
): Changes {
  return each((change) => told(isWrong, change), changes);
}

/** Errors that are not as they should be. */
function spoiled(status: number): Changes {
  const body = (members: object) => ({ body }: Told) => ({
    body: { ...Object(body), ...members },
  });
  return toldAs((told) => told.status === status, {
    [`${status} is text`]: () => TEXT,
    [`${status} is problem+json`]: () => ({ type: "application/problem+json" }),
    [`${status} is 418`]: () => refusal(418),
    [`${status} is 204`]: () => ({ status: 204 }),
    [`${status} has no code`]: body({ code: undefined }),
    [`${status} has no message`]: body({ message: undefined }),
    [`${status} has its status in quotes`]: body({ status: `${status}` }),
    [`${status} has another status`]: body({ status: 418 }),
  });
}
const TEXT = { body: "No", type: "text/plain" };

/** Lets in requests without the right key. */
function letsIn(isLetIn: (at: At) => boolean): Change {
  return { isKnown: (isKnown, at) => isKnown || isLetIn(at) };
}
export const token = (isValid: (token: string) => boolean): Change =>
  letsIn(({ key }) => /^bearer ./i.test(key) && isValid(key.slice(7)));

/** Refuses requests; `right` is the status that they should be refused with, or 0. */
export const refusing = (status: number) =>
(
  isRefused: (at: At, right: number) => boolean,
): Change => ({
  refused: (right, at) => isRefused(at, right) ? status : right,
});

/** Refuses a request before its key is checked. */
const early = (isWrong: (at: At) => boolean): Change =>
  refusing(400)((at, right) => right === 401 && isWrong(at));

/** Refuses creates whose body matches. */
const failing = (status: number) => (wrong: RegExp): Change =>
  refusing(status)(({ operation, body }, right) =>
    right !== 401 && operation === "create" && wrong.test(body)
  );

/** Adds pets that are refused with a status. */
const addsAt = (status: number): Change => ({
  refused(right, { pets, body }) {
    const name = /"name":"(\w+)"/.exec(body)?.[1];
    if (right === status && name !== undefined) {
      const id = BigInt(pets.length + 1);
      pets.push({ id, name, categoryId: 1n, status: "sold" });
    }
    return right;
  },
});

/** Takes the body of a create for another one. */
export const takes = (body: (body: string) => string): Change => ({ body });
const VALID = { name: '"Rex"', categoryId: "1", status: '"sold"' } as const;
function accepts(member: keyof typeof VALID, values: string): Changes {
  const valid = `"${member}":${VALID[member]}`;
  return eachWord(
    values,
    (value) => `${member} is ${value}`,
    (value) => takes((body) => body.replace(`"${member}":${value}`, valid)),
  );
}
/** Takes the text of a status for another one. */
const status = (change: (text: string) => string | undefined): Change =>
  takes((body) =>
    body.replace(
      /(?<="status":)"((?:\\.|[^"])*)"/,
      (sent, text) => JSON.stringify(change(text) ?? JSON.parse(sent)),
    )
  );

/** Changes pets: as they are kept, listed, listed with a status, or found by getPet. */
const listed = (change: (pet: Pet) => Pet): Change => ({
  page: (pets) => pets.map(change),
});
const got = (change: (pet: Pet) => Pet): Change => ({
  found: (pet) => pet === null ? null : change(pet),
});
function everywhere(title: string, change: (pet: Pet) => Pet): Changes {
  return {
    [title]: { kept: change },
    [`${title} in the listing`]: listed(change),
    [`${title} with a status`]: {
      page: (pets, { query }) => query.has("status") ? pets.map(change) : pets,
    },
    [`${title} in getPet`]: got(change),
  };
}
const named = (change: (name: string) => string) => (pet: Pet): Pet => ({
  ...pet,
  name: change(pet.name),
});
const keeps = (change: (name: string) => string): Change => ({
  kept: named(change),
});
const inCategory = (change: (id: bigint) => bigint) => (pet: Pet): Pet => ({
  ...pet,
  categoryId: change(pet.categoryId),
});
const keepsId = (change: (id: bigint) => bigint): Change => ({
  kept: inCategory(change),
});
export const round = (id: bigint): bigint => BigInt(Number(id));

/** Finds another pet, or none; only integers ask for a pet. */
const finds = (
  find: (pets: readonly Pet[], asked: bigint) => Pet | undefined,
): Change => ({
  found: (pet, { pets, petId }) =>
    /^-?\d+$/.test(petId) ? find(pets, BigInt(petId)) ?? NOBODY : pet,
});
const sameId = (isSame: (id: bigint, asked: bigint) => boolean): Change =>
  finds((pets, asked) => pets.find(({ id }) => isSame(id, asked)));

/** Replaces a pet with another one. */
const replaces = (isSame: (pet: Pet, sent: At["sent"]) => boolean): Change => ({
  place(place, { pets, sent }) {
    const same = pets.findIndex((pet) => isSame(pet, sent));
    return same < 0 ? place : same;
  },
});

/** Mirrors the answers to creates that are waiting at once. */
function mirrored(): (pet: Pet, at: At) => Pet {
  let [all, start, end]: [readonly Pet[], number, number] = [[], 0, -1];
  return (pet, { pets }) => {
    const place = pets.indexOf(pet);
    if (pets !== all || place > end) {
      [all, start, end] = [pets, place, pets.length - 1];
    }
    return pets[start + end - place] ?? pet;
  };
}

/**
 * Changes the limit of a page. Pages that are short link the next by no mistake: these link none.
 */
const limits = (
  change: (limit: number, sent: number, hasStatus: boolean) => number,
): Change => ({
  limit: (limit, { query }) =>
    change(limit, Number(query.get("limit")), query.has("status")),
  link: () => "",
});

/** Filters a page after it is cut. */
export const filteredLate: Change = {
  page: (_page, { ordered, start, limit, query }) =>
    ordered.slice(start, start + limit).filter(({ status }) =>
      status === (query.get("status") ?? status)
    ),
};

/** Answers 422, with a text. */
const answersText = (isWrong: (at: At) => boolean): Change =>
  told((_told, at) => isWrong(at), () => ({ ...TEXT, status: 422 }));

const isText = ({ headers }: At): boolean =>
  headers.get("content-type") === "text/plain";

const MADE: Readonly<Record<string, Changes>> = {
  "no key is 401 with an Error body, whatever the operation": {
    ...eachWord(
      "list create get",
      (operation) => `${operation} needs no key`,
      (name) =>
        letsIn(({ operation, key }) => operation === name && key === ""),
    ),
    ...spoiled(401),
    "401, but the pet is added": addsAt(401),
  },
  "no key or a wrong one is 401, whatever else is wrong with the request": each(
    early,
    {
      "the pet comes before the key": ({ petId }) => petId.length > 10,
      "the query comes before the key": ({ query }) =>
        query.get("limit") === "0",
      "the body comes before the key": ({ body }) => body === "{",
      "a missing body comes before the key": ({ operation, body }) =>
        operation === "create" && body === "",
      "the media type comes before the key": isText,
      "the pet comes before a wrong key": ({ petId, key }) =>
        petId.length > 10 && key !== "",
    },
  ),
  "a wrong key is 401 with an Error body, whatever the operation": {
    ...eachWord(
      "list create get",
      (operation) => `${operation} takes any key`,
      (operation) =>
        letsIn((at) => at.operation === operation && /^bearer ./i.test(at.key)),
    ),
    ...each(token, {
      "any key will do": () => true,
      "a key may be longer": (token) => token.startsWith(KEY),
      "a key may be shorter": (token) => KEY.startsWith(token),
      "a key may be one of several": (token) => token.split(",").includes(KEY),
      "a key may end with the key": (token) => token.endsWith(KEY),
      "a key may be a member of every object": (token) => token in {},
    }),
  },
  "a key in another case is 401": {
    "keys are lower-cased": token((token) =>
      token.toLowerCase() === KEY.toLowerCase()
    ),
  },
  "a key without the scheme Bearer is 401": each(letsIn, {
    "a key needs no scheme": ({ key }) => key === KEY,
    "any scheme will do": ({ key }) => key.split(" ")[1] === KEY,
    "Basic will do": ({ key }) => key === `Basic ${btoa(`${KEY}:`)}`,
    "Bearer needs no key": ({ key }) => key === "Bearer",
  }),
  "a key in the query or the body is not accepted": {
    ...eachWord(
      "access_token api_key key token",
      (name) => `${name} may be the key`,
      (name) => letsIn(({ query }) => query.get(name) === KEY),
    ),
    ...each(letsIn, {
      "a key may be in the body": ({ body }) => body.includes(`":"${KEY}"`),
      "a key may be in a form": ({ body }) => body.includes(`n=${KEY}&`),
      "a key may be in X-API-Key": ({ headers }) =>
        headers.get("x-api-key") === KEY,
      "a key may be in a cookie": ({ headers }) =>
        headers.get("cookie")?.includes(KEY) ?? false,
    }),
  },
  "createPet answers 201 with the animal and a new id": {
    ...toldAs(({ status }) => status === 201, {
      "201 is 200": () => ({ status: 200 }),
      "201 is text": () => TEXT,
      "201 has only the id": ({ body }) => ({ body: { id: Object(body).id } }),
    }),
    "answers begin with a byte order mark": { text: (text) => `\ufeff${text}` },
    "ids are strings": {
      shown: (pet) => ({ ...pet, id: `${pet.id}` as never }),
    },
    "ids are beyond int64": { id: (id) => id * id + 2n ** 63n },
    "every id is 1": { id: () => 1n },
    "the status is ignored": {
      kept: (pet) => ({ ...pet, status: "available" }),
    },
    "an equal pet gets the same id": replaces((a, b) => a.name === b.name),
    "a name in another case is the same": replaces((a, b) =>
      a.name !== b.name && a.name.toLowerCase() === b.name?.toLowerCase()
    ),
  },
  "createPet gives each of several animals added at once its own id and answer":
    {
      "ids are taken before a pause": { pauses: () => [1, 0] },
      "answers at once are swapped": {
        pauses: () => [0, 2],
        created: mirrored(),
      },
    },
  "createPet assigns the id itself, whatever the body says": {
    "the id of the body is taken": {
      id: (id, { sent }) => typeof sent.id === "bigint" ? sent.id : id,
    },
    "the id of the body replaces": replaces((a, b) => a.id === b.id),
  },
  "getPet returns the animal with this id, and no other": {
    "ids are looked up as doubles": {
      ...sameId((a, b) => round(a) === round(b)),
      id: (id) => 2n ** 60n + id,
    },
    "ids are looked up as 32 bits": sameId((a, b) =>
      BigInt.asIntN(32, a) === BigInt.asIntN(32, b)
    ),
    "getPet answers the next pet": finds((pets, asked) => {
      const at = pets.findIndex(({ id }) => id === asked);
      return at < 0 ? undefined : pets[at + 1] ?? pets[0];
    }),
    "getPet answers the first pet": finds((pets) => pets[0]),
    "getPet finds nothing": finds(() => undefined),
    "getPet answers in an array": told(
      ({ status }, { operation }) => operation === "get" && status === 200,
      ({ body }) => ({ body: [body] }),
    ),
    "getPet loses the status": got(({ status: _status, ...pet }) => pet),
    "getPet finds no sold pets": got((pet) =>
      pet.status === "sold" ? NOBODY : pet
    ),
  },
  "getPet answers 404 if no animal has the id": {
    ...spoiled(404),
    ...toldAs(({ status }) => status === 404, {
      "404 is 200 with null": () => ({ status: 200, body: null }),
      "a missing pet is made up": () => ({
        status: 200,
        body: { id: 1n, name: "Nobody", categoryId: 1n },
      }),
    }),
    "the end of an id is ignored": {
      found: (pet, { pets, petId }) =>
        pets.find(({ id }) => `${id}` === /^-?\d+/.exec(petId)?.[0]) ?? pet,
    },
    "any id is that of a pet": finds((pets, id) =>
      pets[0] && { ...pets[0], id }
    ),
    "ids may have underscores": {
      found: (pet, { pets, petId }) =>
        pets.find(({ id }) => `${id}` === petId.replace(/^0_/, "")) ?? pet,
    },
    "ids are looked up as 64 bits": sameId((id, asked) =>
      id === BigInt.asIntN(64, asked)
    ),
    "the greatest id is 500": told(
      ({ status }, { petId }) => status === 404 && /^9\d+807$/.test(petId),
      () => refusal(500),
    ),
  },
  "a categoryId is any int64, exact to the last digit in, stored and out": {
    ...everywhere("categories are doubles", inCategory(round)),
    ...each(keepsId, {
      "categories wrap at 32 bits": (id) => BigInt.asIntN(32, id),
      "categories end at 2^53": (id) => id > 2n ** 53n ? 2n ** 53n : id,
      "categories are positive": (id) => id < 0n ? -id : id,
      "categories are 1": () => 1n,
    }),
    "categories are strings if not 1": {
      text: (text) =>
        text.replaceAll(/(?<="categoryId":)(?!1,)[-\d]+/g, '"$&"'),
    },
  },
  "createPet keeps a name as it is sent, or refuses it": {
    ...everywhere("names are cut at 64", named((name) => name.slice(0, 64))),
    ...each(keeps, {
      "names are trimmed": (name) => name.trim(),
      "names are trimmed at their end": (name) => name.trimEnd(),
      "names are escaped": (name) => name.replaceAll("&", "&amp;"),
      "names are NFC": (name) => name.normalize("NFC"),
      "names are NFD": (name) => name.normalize("NFD"),
      "names are NFKC": (name) => name.normalize("NFKC"),
      "names are cut at 32": (name) => name.slice(0, 32),
      "names are cut at 50": (name) => name.slice(0, 50),
      "names are cut at 255": (name) => name.slice(0, 255),
      "names are cut at 300 bytes": (name) =>
        new TextDecoder().decode(new TextEncoder().encode(name).slice(0, 300)),
      "names are lower-cased": (name) => name.toLowerCase(),
      "names are numbers if they can be": (name) =>
        Number(name) > 0 ? `${Number(name)}` : name,
      "names are replaced": (name) => name.replaceAll("$$", "$"),
      "names have single spaces": (name) => name.replaceAll(/ +/g, " "),
      "names lose backslashes": (name) => name.replaceAll("\\", ""),
      "names lose what is not ASCII": (name) => name.replaceAll(/[^ -~]/g, "?"),
      "names lose control characters": (name) =>
        name.replaceAll(/\p{Cc}/gu, ""),
      "names double percent signs": (name) => name.replaceAll("%", "%%"),
    }),
  },
  "createPet refuses a name that is not a string": accepts(
    "name",
    "null 7 true false [] {}",
  ),
  "createPet refuses a categoryId with a fraction": {
    ...accepts("categoryId", "1.5 -0.5 9007199254740992.5"),
    "fractions are cut": takes((body) =>
      body.replace(/("categoryId":-?\d+)\.\d+/, "$1")
    ),
    "400, but the pet is added": addsAt(400),
  },
  "createPet refuses a categoryId beyond int64": {
    ...accepts(
      "categoryId",
      "9223372036854775808 -9223372036854775809 1e400 1e19",
    ),
    "categories wrap at 64 bits": takes((body) =>
      body.replace(
        /(?<="categoryId":)-?\d+(?=[,}])/,
        (id) => `${BigInt.asIntN(64, BigInt(id))}`,
      )
    ),
  },
  "createPet refuses a categoryId that is not a number": accepts(
    "categoryId",
    '"1" null true false [] [1] {}',
  ),
  "createPet refuses a status that is none of the three": {
    ...accepts("status", '"" "Sold" "SOLD" "gone" "constructor" "1"'),
    ...each(status, {
      "a status may be in any case": (text) => text.toLowerCase(),
      "a status may be padded": (text) => text.trim(),
      "a status may be cut": (text) =>
        STATUSES.find((one) => one.startsWith(text)),
      "a status may go on": (text) =>
        STATUSES.find((one) => text.startsWith(one)),
    }),
  },
  "createPet refuses a status that is not a string": accepts(
    "status",
    'null 7 1 true ["sold"] {}',
  ),
  "a body that is missing, is not a JSON object, or lacks a field is 400": {
    ...each(failing(500), {
      "a missing body is 500": /^$/,
      "a body that is no JSON is 500": /^{$/,
      "null is 500": /^null$/,
    }),
    "a missing body is 415": failing(415)(/^$/),
    ...each(takes, {
      "an array adds its first": (body) => body.replace(/^\[(.*)\]$/, "$1"),
      "a missing name is accepted": (body) =>
        body.replace(/^\{(?!.*"name")/, '{"name":"Rex",'),
      "a missing categoryId is accepted": (body) =>
        body.replace(/^\{(?!.*"categoryId")/, '{"categoryId":1,'),
      "members may be in another case": (body) =>
        body.replace(/"name"/i, '"name"').replace(/"category/i, '"category'),
    }),
    "a create that is refused undoes the last": {
      refused(status, { pets, operation }) {
        if (status === 400 && operation === "create") pets.pop();
        return status;
      },
    },
    ...spoiled(400),
  },
  "listPets returns an empty array if no animal has the status": toldAs(
    ({ body }) => Array.isArray(body) && body.length === 0,
    {
      "an empty list is null": () => ({ body: null }),
      "an empty list is an object": () => ({ body: {} }),
      "an empty list is 404": () => refusal(404),
      "an empty list is 204": () => ({ status: 204 }),
    },
  ),
  "listPets returns an array of animals": {
    ...toldAs(({ body }) => Array.isArray(body), {
      "the listing is in an object": ({ body }) => ({ body: { items: body } }),
      "the listing is text": () => ({ type: "text/plain" }),
    }),
    "the listing lacks categories": listed(({ id, name, status }) =>
      ({ id, name, status }) as Pet
    ),
    "the listing lacks the newest": { ordered: (pets) => pets.slice(0, -1) },
    "the listing has pets twice": {
      page: (pets) => pets.flatMap((pet) => [pet, pet]).slice(0, pets.length),
    },
  },
  "listPets filters by each status": {
    "the filter is ignored": { filtered: (_pets, { ordered }) => ordered },
    "the filter knows no pending": {
      filtered: (pets, { query, ordered }) =>
        query.get("status") === "pending" ? ordered : pets,
    },
    "the filter finds all but": {
      filtered: (pets, { query, ordered }) =>
        query.has("status")
          ? ordered.filter((pet) => !pets.includes(pet))
          : pets,
    },
    "the filter finds no sold pets": {
      filtered: (pets, { query }) => query.get("status") === "sold" ? [] : pets,
    },
    "the listing lacks sold pets": {
      filtered: (pets, { query }) =>
        pets.filter((pet) => pet.status !== "sold" || query.has("status")),
    },
    "getPet finds no pending pets": got((pet) =>
      pet.status === "pending" ? NOBODY : pet
    ),
    "a status that is left out is shown, but not found": {
      kept: (pet, { sent }) => ({ ...pet, status: sent.status }),
      shown: (pet) => ({ ...pet, status: pet.status ?? "available" }),
    },
  },
  "listPets applies limit after the filter by status": {
    "limit comes before the filter": { ...filteredLate, link: () => "" },
    "limit is one more": limits((limit) => limit + 1),
    "limit is one less": limits((limit) => limit - 1),
    "limit is ignored with a status": limits((limit, _sent, hasStatus) =>
      hasStatus ? 100 : limit
    ),
  },
  "createPet reads a name however JSON spells it": {
    "surrogates are replaced": keeps((name) =>
      name.replaceAll(/[\ud800-\udfff]/g, "\ufffd")
    ),
    "spelled surrogates are refused": failing(400)(/\\ud83d/i),
    "spelled letters are not read": takes((body) =>
      body.replace(/\\u00(?=e9)/i, "\\\\u00")
    ),
  },
  "createPet reads JSON with whitespace, members in any order, and a charset": {
    "a charset is 415": refusing(415)(({ headers }) =>
      /charset/.test(headers.get("content-type") ?? "")
    ),
    ...each(failing(400), {
      "blanks between members are 400": /" :/,
      "blanks around the body are 400": /^\s+\{/,
      "the name must come first": /^\{"categoryId":\d+,"name/,
      "spelled members are not read": /n\\u0061me/,
    }),
  },
  "createPet reads a body in pieces, wherever it is cut": {
    "pieces are decoded apart": {
      body: (_body, { pieces }) =>
        pieces.map((piece) => new TextDecoder().decode(piece)).join(""),
    },
  },
  "no create is answered with 5xx, except 503 with Retry-After": each(
    failing(500),
    {
      "NUL is 500": /\\u0000"/,
      "a lone surrogate is 500": /"\\ud83d"/,
      "an empty name is 500": /""/,
      "deep nesting is 500": /\[{99}/,
      "5,000 digits are 500": /\d{5000}/,
      "names of 2,000 characters are 500": /"x{2000}"/,
      "bodies of 4 KiB are 500": /.{4096}/s,
      "bytes that are not UTF-8 are 500": /\ufffd"$/,
    },
  ),
  "every error has an Error body, even for an odd query or id": each(
    answersText,
    {
      "an odd limit is text": ({ query }) => query.get("limit") === "x",
      "an unknown status is text": ({ query }) =>
        query.get("status") === "gone",
      "an odd id is text": ({ petId }) => petId === "x",
      "415 is text": isText,
      "413 is text": ({ body }) => body.length > 2 ** 17,
      "404 is text if a browser asks": ({ headers }) =>
        headers.get("accept") === "text/html",
    },
  ),
  "listPets returns 20 animals if no limit is sent": {
    "the default is 10": limits((limit, sent) => sent === 0 ? 10 : limit),
    "the default is 100": limits((limit, sent) => sent === 0 ? 100 : limit),
    "the default is ignored with a status": limits((limit, sent, hasStatus) =>
      sent === 0 && hasStatus ? 100 : limit
    ),
  },
  "listPets accepts a limit from 1 to 100": {
    "limit ends at 50": limits((limit) => Math.min(limit, 50)),
    "limit ends at 99": limits((limit) => Math.min(limit, 99)),
    "limit ends at 50 with a status": limits((limit, _sent, hasStatus) =>
      hasStatus ? Math.min(limit, 50) : limit
    ),
    "limit is ignored": limits(() => 100),
    "limit is ignored without a status": limits((limit, _sent, hasStatus) =>
      hasStatus ? limit : 100
    ),
    ...eachWord(
      "1 100",
      (limit) => `${limit} is refused`,
      (limit) => refusing(400)(({ query }) => query.get("limit") === limit),
    ),
  },
  "the pages of listPets lead to every animal": {
    "the newest hundred alone are listed": {
      ordered: (pets) => pets.slice(-100),
    },
    "a page skips a pet": { next: (start) => start + 1 },
    "the next page forgets the status": {
      link: (_link, { address, start, limit }) =>
        linkTo(new URL("?limit=30", address), start + limit),
    },
  },
  "listPets returns at most 100 animals": {
    "limit has no end": limits((limit, sent) => sent > 100 ? sent : limit),
    "limit has no end with a status": limits((limit, sent, hasStatus) =>
      sent > 100 && hasStatus ? sent : limit
    ),
  },
  "createPet keeps any letters and any int64 exactly, or refuses them": {
    "dates have a time": keeps((name) =>
      /^[\d-]{10}$/.test(name) ? `${name}T00:00` : name
    ),
    "words of YAML are lost": keeps((name) => name === "null" ? "" : name),
    "Tibetan is lost": keeps((name) =>
      name.replaceAll(/\p{Script=Tibetan}/gu, "")
    ),
    "three bytes are too many": keeps((name) =>
      name.replaceAll(/[\u0800-\uffff]/g, "?")
    ),
    "letters beyond U+20000 are lost": keeps((name) =>
      name.replaceAll(/[\u{20000}-\u{10ffff}]/gu, "")
    ),
    "categories are doubles around 2^62": keepsId((id) =>
      id > 2n ** 62n && id < 2n ** 63n - 9n ? round(id) : id
    ),
  },
  "an animal stays as it was added, with an id of its own": {
    "ids begin again after 2": { id: (id) => 1n + id % 2n },
    "the newest two alone are kept": finds((pets, asked) =>
      pets.slice(-2).find(({ id }) => id === asked)
    ),
  },
};

/** Mistakes, by their names. */
export const MISTAKES: Changes = Object.assign({}, ...Object.values(MADE));

/** The clause that each mistake breaks. */
export const CLAUSES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(MADE).flatMap(([clause, changes]) =>
    Object.keys(changes).map((mistake) => [mistake, clause])
  ),
);
