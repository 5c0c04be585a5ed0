/**
 * A pet store that follows the interface, with mistakes and freedoms to switch on: the judge has to blame
 * each mistake, whatever freedoms a store takes, and no freedom.
 */

import type { OpenService } from "../contract/ask.ts";
import type { Check } from "../contract/pets_client.ts";
import { INTERFACE_CLAUSES } from "../contract/interface_contract.ts";

const KEY = "Se-Kret7";
const STATUSES = ["available", "pending", "sold"];

/** A pet; the values may be wrong. */
interface Pet {
  readonly id?: unknown;
  readonly name?: unknown;
  readonly categoryId?: unknown;
  readonly status?: unknown;
}

/** A request, read. */
interface Asked {
  readonly operation: "list" | "create" | "get";
  readonly petId: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly body: string;
  /** The scheme and the token of `Authorization`. */
  readonly scheme: string;
  readonly token: string;
}

/** An answer before it is written; `body` may be any value. */
interface Told {
  readonly status: number;
  readonly body: unknown;
  readonly type: string;
  readonly link?: string;
}

/** Everything that a mistake or a freedom can change; those that are switched on are applied in turn. */
interface Change {
  /** Lets a request in that has no valid key. */
  readonly letsIn?: (asked: Asked) => boolean;
  /** Refuses a request before the key is checked: a status, or 0. */
  readonly early?: (asked: Asked) => number;
  /** Adds the pet of a create that is refused with this status. */
  readonly addsAt?: number;
  /** Accepts an invalid member: its name and its value as JSON, or nothing if it is missing. */
  readonly accepts?: (member: string, json: string) => boolean;
  /** Refuses a body before it is checked: a status, or 0. */
  readonly refusesBody?: (body: string) => number;
  /** Takes another value for the body. */
  readonly body?: (value: unknown) => unknown;
  /** Refuses a valid pet with 400. */
  readonly refuses?: (pet: Pet, pets: readonly Pet[]) => boolean;
  /** Gives an id to the pet that is added after so many. */
  readonly id?: (index: bigint, sent: unknown) => bigint | undefined;
  /** Takes the id before other creates are done. */
  readonly isSlow?: boolean;
  /** Replaces pets that have the id, or gives an equal pet instead of adding one. */
  readonly replaces?: boolean;
  readonly equals?: (pet: Pet, other: Pet) => boolean;
  /** Changes a pet as it is stored, listed, got, or shown anywhere. */
  readonly stored?: (pet: Pet) => Pet;
  readonly listed?: (pet: Pet) => Pet;
  readonly got?: (pet: Pet) => unknown;
  readonly shown?: (pet: Pet) => Pet;
  /** Compares the id of a pet with the one asked for. */
  readonly sameId?: (id: bigint, asked: bigint) => boolean;
  /** Answers with another pet than the one found, or than none. */
  readonly found?: (at: number, pets: readonly Pet[]) => Pet | undefined;
  readonly order?: (pets: readonly Pet[]) => readonly Pet[];
  /** Decides if a pet is listed with this status. */
  readonly filter?: (pet: Pet, status: string) => boolean;
  /** Changes the limit of a page; `sent` is its text in the query. */
  readonly limit?: (
    limit: number,
    sent: string | null,
    hasStatus: boolean,
  ) => number;
  /** Cuts the page before it is filtered. */
  readonly cutsFirst?: (sent: string | null) => boolean;
  readonly page?: (pets: readonly Pet[]) => unknown;
  /** Refuses a query with this status. */
  readonly refusesQuery?: (query: URLSearchParams) => number;
  /** The link of a page to the next, which starts after so many pets. */
  readonly link?: (address: URL, start: number) => string | undefined;
  /** Changes an answer. */
  readonly told?: (told: Told) => Told;
  /** Writes 1 as 1.0. */
  readonly isDecimal?: boolean;
  /** The number of pets at the start. */
  readonly size?: number;
}

/** A mistake: the clause that it breaks, and what it changes. */
type Mistakes = Readonly<Record<string, readonly [clause: string, Change]>>;

const text = { body: "No", type: "text/plain" };

/** Changes the answers that have a status. */
function at(
  status: number,
  change: object | ((body: object) => object),
  changed = status,
): Change {
  return {
    told(told) {
      if (told.status !== status) return told;
      if (typeof change === "object") return { ...told, ...change };
      return { ...told, status: changed, body: change(Object(told.body)) };
    },
  };
}

/** Changes names as they are stored. */
function names(change: (name: string) => string): Change {
  return {
    stored: (pet) =>
      typeof pet.name === "string" ? { ...pet, name: change(pet.name) } : pet,
  };
}

/** Changes categories; `where` they are stored, listed or got. */
function categories(
  change: (id: bigint) => unknown,
  where: "stored" | "listed" | "got" | "shown" = "stored",
): Change {
  return {
    [where]: (pet: Pet) =>
      typeof pet.categoryId === "bigint"
        ? { ...pet, categoryId: change(pet.categoryId) }
        : pet,
  };
}

/** Changes the limit of a page. */
function limit(limit: NonNullable<Change["limit"]>): Change {
  return { limit };
}

/** Lets in requests that satisfy a condition. */
function letsIn(letsIn: (asked: Asked) => boolean): Change {
  return { letsIn };
}

const withoutKey = (operation: Asked["operation"]): Change =>
  letsIn((asked) => asked.operation === operation && asked.scheme === "");
const withAnyKey = (operation: Asked["operation"]): Change =>
  letsIn((asked) => asked.operation === operation && asked.scheme === "bearer");
const withToken = (isValid: (token: string) => boolean): Change =>
  letsIn(({ scheme, token }) => scheme === "bearer" && isValid(token));
const inQuery = (name: string): Change =>
  letsIn(({ query }) => query.get(name) === KEY);

/** Refuses a body, or a query whose limit is this, with a status. */
const atBody = (text: string, status: number): Change => ({
  refusesBody: (body) => body === text ? status : 0,
});
const atLimit = (limit: string): Change => ({
  refusesQuery: (query) => query.get("limit") === limit ? 400 : 0,
});

/** Changes the answers that have a status into ones without a member of the error. */
const without = (status: number, member: string): Change =>
  at(status, (body) => ({ ...body, [member]: undefined }));

/** Mistakes of a store that accepts one of these values of a member, as JSON between spaces. */
function accepts(
  member: string,
  kind: string,
  values: string,
): Mistakes {
  return Object.fromEntries(
    values.split(" ").map((value) => {
      const isIt = (name: string, json: string) =>
        name === member && json === value;
      const change = { accepts: isIt };
      return [`${member} is ${value}`, [`createPet refuses ${kind}`, change]];
    }),
  );
}

/** Mistakes that break one clause. */
function breaking(
  clause: string,
  changes: Readonly<Record<string, Change>>,
): Mistakes {
  return Object.fromEntries(
    Object.entries(changes).map(([name, change]) => [name, [clause, change]]),
  );
}

const round = (id: bigint) => BigInt(Number(id));
const isText = ({ headers }: Asked) =>
  headers.get("content-type") === "text/plain";

const CHANGES: Mistakes = {
  ...breaking("no key is 401 with an Error body, whatever the operation", {
    "GET /pets needs no key": withoutKey("list"),
    "GET /pets/ID needs no key": withoutKey("get"),
    "POST /pets needs no key": withoutKey("create"),
    "401 is 403": at(401, (body) => ({ ...body, status: 403 }), 403),
    "401 is text": at(401, text),
    "401 has no code": without(401, "code"),
    "401 has no message": without(401, "message"),
    "401 has a status in quotes": at(
      401,
      (body) => ({ ...body, status: "401" }),
    ),
    "401 has another status": at(401, (body) => ({ ...body, status: 400 })),
    "401, but the pet is added": { addsAt: 401 },
  }),
  ...breaking(
    "no key or a wrong one is 401, whatever else is wrong with the request",
    {
      "the pet is looked up before the key": {
        early: ({ petId }) => petId.length > 10 ? 404 : 0,
      },
      "the query is checked before the key": {
        early: ({ query }) => query.get("limit") === "0" ? 400 : 0,
      },
      "the body is checked before the key": {
        early: ({ body }) => body === "{" ? 400 : 0,
      },
      "a missing body is refused before the key": {
        early: ({ operation, body }) =>
          operation === "create" && body === "" ? 400 : 0,
      },
      "the media type is checked before the key": {
        early: (asked) => isText(asked) ? 415 : 0,
      },
      "pets are looked up before wrong keys": {
        early: ({ petId, scheme }) =>
          petId.length > 10 && scheme !== "" ? 404 : 0,
      },
    },
  ),
  ...breaking("a wrong key is 401 with an Error body, whatever the operation", {
    "any key will do": withToken(() => true),
    "any key will do for GET /pets/ID": withAnyKey("get"),
    "any key will do for POST /pets": withAnyKey("create"),
    "a key may be longer": withToken((token) => token.startsWith(KEY)),
    "a key may be shorter": withToken((token) =>
      token !== "" && KEY.startsWith(token)
    ),
    "a key may be one of several": withToken((token) =>
      token.split(",").includes(KEY)
    ),
    "a key may end with the key": withToken((token) => token.endsWith(KEY)),
  }),
  ...breaking("a key in another case is 401", {
    "keys are lower-cased": letsIn(({ token }) =>
      token.toLowerCase() === KEY.toLowerCase()
    ),
  }),
  ...breaking("a key without the scheme Bearer is 401", {
    "a key needs no scheme": letsIn(({ headers }) =>
      headers.get("authorization") === KEY
    ),
    "any scheme will do": letsIn(({ token }) => token === KEY),
    "Basic will do": letsIn(({ token }) => token === btoa(`${KEY}:`)),
    "Bearer needs no key": letsIn(({ headers }) =>
      headers.get("authorization") === "Bearer"
    ),
  }),
  ...breaking("a key in the query or the body opens nothing", {
    "a key may be in access_token": inQuery("access_token"),
    "a key may be in api_key": inQuery("api_key"),
    "a key may be in key": inQuery("key"),
    "a key may be in token": inQuery("token"),
    "a key may be in the body": letsIn(({ body }) =>
      body.includes(`":"${KEY}"`)
    ),
    "a key may be in a form": letsIn(({ body }) =>
      body.startsWith(`access_token=${KEY}`)
    ),
    "a key may be in X-API-Key": letsIn(({ headers }) =>
      headers.get("x-api-key") === KEY
    ),
  }),
  ...breaking("createPet answers 201 with the animal and a new id", {
    "201 is 200": at(201, { status: 200 }),
    "201 is text": at(201, text),
    "201 has only the id": at(201, (body) => ({ id: (body as Pet).id })),
    "ids are strings": { shown: (pet) => ({ ...pet, id: `${pet.id}` }) },
    "every id is 1": { id: () => 1n },
    "the status is ignored": {
      stored: (pet) => ({ ...pet, status: "available" }),
    },
    "an equal pet gets the same id": { equals: (a, b) => a.name === b.name },
  }),
  ...breaking("createPet gives animals that are added at once an id each", {
    "ids are taken before a pause": { isSlow: true },
  }),
  ...breaking("createPet assigns the id itself, whatever the body says", {
    "the id of the body is taken": {
      id: (_index, sent) => typeof sent === "bigint" ? sent : undefined,
    },
    "the id of the body replaces": { replaces: true },
  }),
  ...breaking("getPet answers the animal with this id, and no other", {
    "ids are looked up as doubles": {
      id: (index) => 2n ** 60n + index,
      sameId: (a, b) => round(a) === round(b),
    },
    "ids are looked up as 32 bits": {
      sameId: (a, b) => BigInt.asIntN(32, a) === BigInt.asIntN(32, b),
    },
    "getPet answers the next pet": {
      found: (at, pets) => at < 0 ? undefined : pets[at + 1] ?? pets[0],
    },
    "getPet answers the first pet": {
      found: (at, pets) => at < 0 ? undefined : pets[0],
    },
    "getPet finds nothing": { sameId: () => false },
    "getPet answers in an array": { got: (pet) => [pet] },
    "getPet loses the status": {
      got: (pet) => ({ ...pet, status: undefined }),
    },
  }),
  ...breaking("getPet answers 404 if no animal has the id", {
    "404 is 200 with null": at(404, { status: 200, body: null }),
    "404 is 204": at(404, { status: 204 }),
    "404 is 400": at(404, { status: 400 }),
    "404 is text": at(404, text),
    "404 is problem+json": at(404, { type: "application/problem+json" }),
    "a missing pet is made up": {
      found: (at, pets) =>
        pets[at] ?? { id: 1n, name: "Nobody", categoryId: 1n },
    },
  }),
  ...breaking(
    "a categoryId is any int64, exact to the last digit in, stored and out",
    {
      "categories are doubles": categories(round),
      "categories are doubles in the listing": categories(round, "listed"),
      "categories are doubles in getPet": categories(round, "got"),
      "categories wrap at 32 bits": categories((id) => BigInt.asIntN(32, id)),
      "categories end at 2^53": categories((id) =>
        id > 2n ** 53n ? 2n ** 53n : id
      ),
      "categories are positive": categories((id) => id < 0n ? -id : id),
      "categories are strings if not 1": categories(
        (id) => id === 1n ? id : `${id}`,
        "shown",
      ),
      "categories are 1": categories(() => 1n),
    },
  ),
  ...breaking("createPet keeps a name as it is sent, or refuses it", {
    "names are trimmed": names((name) => name.trim()),
    "names are trimmed at their end": names((name) => name.trimEnd()),
    "names are escaped": names((name) => name.replaceAll("&", "&amp;")),
    "names are NFC": names((name) => name.normalize("NFC")),
    "names are NFD": names((name) => name.normalize("NFD")),
    "names are NFKC": names((name) => name.normalize("NFKC")),
    "names are cut at 32": names((name) => name.slice(0, 32)),
    "names are cut at 50": names((name) => name.slice(0, 50)),
    "names are cut at 255": names((name) => name.slice(0, 255)),
    "names are cut at 300 bytes": names((name) =>
      new TextDecoder().decode(new TextEncoder().encode(name).slice(0, 300))
    ),
    "names are cut in the listing": {
      listed: (pet) => ({ ...pet, name: `${pet.name}`.slice(0, 64) }),
    },
    "names are lower-cased": names((name) => name.toLowerCase()),
    "names are numbers if they can be": names((name) =>
      Number(name) > 0 ? `${Number(name)}` : name
    ),
    "names have single spaces": names((name) => name.replaceAll(/ +/g, " ")),
    "names lose backslashes": names((name) => name.replaceAll("\\", "")),
    "names lose what is not ASCII": names((name) =>
      name.replaceAll(/\P{ASCII}/gu, "?")
    ),
    "names lose control characters": names((name) =>
      name.replaceAll(/\p{Cc}/gu, "")
    ),
    "names double percent signs": names((name) => name.replaceAll("%", "%%")),
  }),
  ...breaking("createPet takes a surrogate pair however it is spelled", {
    "surrogates are replaced": names((name) =>
      name.replaceAll(/[\ud800-\udfff]/g, "\ufffd")
    ),
    "spelled surrogates are refused": {
      refusesBody: (body) => /\\ud83d/i.test(body) ? 400 : 0,
    },
  }),
  ...accepts("name", "a name that is not a string", "null 7 true false [] {}"),
  ...accepts("categoryId", "a categoryId with a fraction", "1.5 -0.5"),
  ...accepts(
    "categoryId",
    "a categoryId beyond int64",
    "9223372036854775808 -9223372036854775809 1e400",
  ),
  ...accepts(
    "categoryId",
    "a categoryId that is not a number",
    '"1" null true false [] [1] {}',
  ),
  ...accepts(
    "status",
    "a status that is none of the three",
    '"" "Sold" "gone"',
  ),
  ...accepts(
    "status",
    "a status that is not a string",
    'null 7 true ["sold"] {}',
  ),
  ...breaking("createPet refuses a categoryId with a fraction", {
    "400, but the pet is added": { addsAt: 400 },
  }),
  ...breaking(
    "a body that is missing, is not a JSON object, or lacks a field is 400",
    {
      "a missing body is 500": atBody("", 500),
      "a missing body is 415": atBody("", 415),
      "a body that is no JSON is 500": atBody("{", 500),
      "null is 500": atBody("null", 500),
      "an array adds its first": {
        body: (value) => Array.isArray(value) ? value[0] : value,
      },
      "a missing name is accepted": {
        accepts: (member, json) => member === "name" && json === "",
      },
      "a missing categoryId is accepted": {
        accepts: (member, json) => member === "categoryId" && json === "",
      },
      "400 is 422": at(400, { status: 422 }),
      "400 is text": at(400, text),
      "400 has no message": without(400, "message"),
    },
  ),
  ...breaking("listPets answers an array of animals", {
    "the listing is in an object": { page: (items) => ({ items }) },
    "the listing is text": {
      told: (told) =>
        Array.isArray(told.body) ? { ...told, type: "text/plain" } : told,
    },
    "the listing lacks categories": {
      listed: (pet) => ({ ...pet, categoryId: undefined }),
    },
    "the listing lacks the newest": { order: (pets) => pets.slice(0, -1) },
    "the listing has pets twice": {
      page: (pets) => pets.flatMap((pet) => [pet, pet]).slice(0, pets.length),
    },
  }),
  ...breaking("listPets filters by each status", {
    "the filter is ignored": { filter: () => true },
    "the filter knows no pending": {
      filter: (pet, status) => status === "pending" || pet.status === status,
    },
    "the filter finds all but": {
      filter: (pet, status) => pet.status !== status,
    },
    "sold pets are left out": {
      filter: (pet, status) => pet.status === status && status !== "sold",
    },
  }),
  ...breaking("listPets applies limit after the filter by status", {
    "limit comes before the filter": { cutsFirst: () => true },
    "limit is ignored with a status": limit((limit, _sent, hasStatus) =>
      hasStatus ? 100 : limit
    ),
    "limit is one more": limit((limit) => limit + 1),
    "limit is one less": limit((limit) => limit - 1),
  }),
  ...breaking("listPets answers 20 animals if no limit is sent", {
    "the default is ignored with a status": limit((limit, sent, hasStatus) =>
      hasStatus && sent === null ? 100 : limit
    ),
    "the default comes before the filter": {
      cutsFirst: (sent) => sent === null,
    },
    "the default is 10": limit((limit, sent) => sent === null ? 10 : limit),
    "the default is 100": limit((limit, sent) => sent === null ? 100 : limit),
  }),
  ...breaking("listPets takes a limit from 1 to 100", {
    "limit ends at 50": limit((limit) => Math.min(limit, 50)),
    "limit ends at 99": limit((limit) => Math.min(limit, 99)),
    "limit ends at 50 with a status": limit((limit, _sent, hasStatus) =>
      hasStatus ? Math.min(limit, 50) : limit
    ),
    "100 is refused": atLimit("100"),
    "1 is refused": atLimit("1"),
    "limit is ignored": limit(() => 100),
    "limit is ignored without a status": limit((limit, _sent, hasStatus) =>
      hasStatus ? limit : 100
    ),
  }),
  ...breaking("listPets answers 100 animals at most", {
    "limit has no end": limit((limit, sent) =>
      Number(sent) > 100 ? Number(sent) : limit
    ),
    "limit has no end with a status": limit((limit, sent, hasStatus) =>
      hasStatus && Number(sent) > 100 ? Number(sent) : limit
    ),
  }),
};

const noLink = { link: () => undefined };
const isBad = (query: URLSearchParams) => {
  const [limit, status] = [query.get("limit"), query.get("status")];
  return status !== null && !STATUSES.includes(status) ||
    limit !== null && !/^(?:[1-9]\d?|100)$/.test(limit);
};
const left = (status?: string): Change => ({
  stored: (pet) => pet.status === undefined ? { ...pet, status } : pet,
});

/** Freedoms that the interface leaves, and what they change. */
const TAKEN: Readonly<Record<string, Change>> = {
  "ids start at 0": { id: (index) => index },
  "ids go down from -1": { id: (index) => -1n - index },
  "ids are beyond 2^53": { id: (index) => 2n ** 60n + index },
  "ids are scattered": {
    id: (index) => BigInt.asUintN(31, index * 2654435761n + 12345n),
  },
  "the newest comes first": { order: (pets) => pets.toReversed() },
  "pets come by name": {
    order: (pets) => sortedBy(pets, ({ name }) => `${name}`),
  },
  "pets come in a mixed order": {
    order: (pets) =>
      sortedBy(pets, ({ id }) => `${(id as bigint) * 40503n % 65537n} ${id}`),
  },
  "no page links the next": noLink,
  "pages link by cursor among other links": {
    link: ({ href }, start) =>
      `<${href}>; title="a, b"; rel="first last", <?cursor=c${start}>; rel=next`,
  },
  "pages link elsewhere": {
    link: (_address, start) =>
      `<https://elsewhere.example/v1/pets?page=${start}>; rel="next"`,
  },
  "pages link in a circle": { link: ({ href }) => `<${href}>; rel="next"` },
  "pages link to a failure": {
    link: () => '<?page=x>; rel="next"',
    refusesQuery: (query) => query.get("page") === "x" ? 500 : 0,
  },
  "pages overlap": {
    link: (address, start) => linkByNumber(address, start - 1),
  },
  "the store has 30 pets": { size: 30 },
  "the store has 250 pets": { size: 250 },
  "the store has 60 pets and no links": { size: 60, ...noLink },
  "the store has 150 pets and no links": { size: 150, ...noLink },
  "pets have more members": {
    shown: (pet) => ({
      _links: { self: `/pets/${pet.id}` },
      tags: [],
      weight: 1.5,
      owner: null,
      ...pet,
    }),
  },
  "errors have more members": {
    told: (told) =>
      told.status < 400
        ? told
        : { ...told, body: { details: [{ a: 1 }], ...Object(told.body) } },
  },
  "JSON has a charset": {
    told: (told) => ({
      ...told,
      type: told.type.replace(/json$/, "json; charset=utf-8"),
    }),
  },
  "integers end in .0": { isDecimal: true },
  "a status that is left out is pending": left("pending"),
  "a status that is left out stays away": left(),
  "an invalid query is 400": {
    refusesQuery: (query) => isBad(query) ? 400 : 0,
  },
  "an invalid query is 422": {
    refusesQuery: (query) => isBad(query) ? 422 : 0,
  },
  "an odd petId is 400": {
    early: ({ petId }) => petId === "" || /^-?\d+$/.test(petId) ? 0 : 400,
  },
  "unknown parameters are 400": {
    refusesQuery: (query) =>
      [...query.keys()].every((name) =>
          /^(?:limit|status|page|cursor)$/.test(name)
        )
        ? 0
        : 400,
  },
  "unknown members are 400": {
    refuses: (pet) =>
      Object.keys(pet).some((name) =>
        !/^(?:name|categoryId|status)$/.test(name)
      ),
  },
  "categories beyond 32 bits are 400": {
    refuses: ({ categoryId: id }) =>
      isInt64(id) && id !== BigInt.asIntN(32, id),
  },
  "categories below 1 are 400": {
    refuses: ({ categoryId: id }) => isInt64(id) && id < 1n,
  },
  "long names are 400": { refuses: ({ name }) => `${name}`.length > 40 },
  "blank names are 400": {
    refuses: ({ name }) => typeof name === "string" && name.trim() !== name,
  },
  "names with spaces are 400": {
    refuses: ({ name }) => typeof name === "string" && /\s/.test(name),
  },
  "names that are not ASCII are 400": {
    refuses: ({ name }) => /\P{ASCII}/u.test(`${name}`),
  },
  "names that are taken are 400": {
    refuses: ({ name }, pets) => pets.some((pet) => pet.name === name),
  },
  "other keys are valid, too": withToken((token) => token === "another"),
};

/** Mistakes, and the clause that each breaks. */
export const MISTAKES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(CHANGES).map(([mistake, [clause]]) => [mistake, clause]),
);

/** The names of the freedoms. */
export const FREEDOMS: readonly string[] = Object.keys(TAKEN);

const ENDLESS = ["limit has no end", "limit has no end with a status"];
const TRIMMED = ["names are trimmed", "names are trimmed at their end"];

/** Mistakes that cannot be seen if a store takes a freedom: docs/judge.md says why. */
export const HIDDEN: Readonly<Record<string, readonly string[]>> = {
  "the store has 150 pets and no links": [
    "categories are doubles in the listing",
    "names are cut in the listing",
    "the listing lacks categories",
    "the listing lacks the newest",
    "401, but the pet is added",
    "400, but the pet is added",
  ],
  "an invalid query is 400": ENDLESS,
  "an invalid query is 422": ENDLESS,
  "categories beyond 32 bits are 400": [
    "categories are doubles",
    "categories are doubles in the listing",
    "categories are doubles in getPet",
    "categories wrap at 32 bits",
    "categories end at 2^53",
  ],
  "categories below 1 are 400": ["categories are positive"],
  "long names are 400": [
    "names are cut at 50",
    "names are cut at 255",
    "names are cut at 300 bytes",
    "names are cut in the listing",
  ],
  "blank names are 400": TRIMMED,
  "names with spaces are 400": [...TRIMMED, "names have single spaces"],
  "names that are not ASCII are 400": [
    "names are NFC",
    "names are NFD",
    "names are NFKC",
    "names lose what is not ASCII",
    "surrogates are replaced",
    "spelled surrogates are refused",
  ],
  "names that are taken are 400": ["an equal pet gets the same id"],
  "unknown members are 400": [
    "the id of the body is taken",
    "the id of the body replaces",
  ],
};

/** The clause of the interface with a sentence. */
export function clause(sentence: string): Check {
  const check = INTERFACE_CLAUSES[sentence];
  if (typeof check === "function") return check;
  throw new Error(`No clause: ${sentence}`);
}

/** Thrown to refuse a request. */
class Refused extends Error {
  readonly status: number;
  constructor(status: number) {
    super("It is refused");
    this.status = status;
  }
}

/** A new store with these mistakes and freedoms, as a service to judge. */
export function serviceWith(...switches: readonly string[]): OpenService {
  // A mistake in the id comes before a freedom in it: the last wins.
  const changes = switches.toReversed().map((name) => {
    const change = CHANGES[name]?.[1] ?? TAKEN[name];
    if (change === undefined) throw new Error(`Unknown switch: ${name}`);
    return change;
  });
  /** The functions of one kind, of all that is switched on. */
  function all<K extends keyof Change>(kind: K): NonNullable<Change[K]>[] {
    return changes.map((change) => change[kind]).filter((one) =>
      one !== undefined
    );
  }
  function change<T>(kind: "stored" | "listed" | "shown", pet: T): T {
    return all(kind).reduce(
      (changed: Pet, one) => one(changed),
      pet as Pet,
    ) as T;
  }
  function refuse(statuses: readonly number[]): void {
    const status = statuses.find((status) => status > 0);
    if (status !== undefined) throw new Refused(status);
  }

  const pets: Pet[] = [];
  const newId = (sent?: unknown): bigint => {
    const index = BigInt(pets.length);
    return all("id").reduce((id, one) => one(index, sent) ?? id, index + 1n);
  };
  for (let i = 0; i < Math.max(0, ...all("size")); i++) {
    const name = `Old${String.fromCharCode(97 + i % 26)}`;
    const status = STATUSES[i % 3];
    pets.push({ id: newId(), name, categoryId: 5n, status });
  }

  function isKnown(asked: Asked): boolean {
    const hasKey = asked.scheme === "bearer" && asked.token === KEY;
    return hasKey || all("letsIn").some((one) => one(asked));
  }

  function readPet(body: string): Pet {
    refuse(all("refusesBody").map((one) => one(body)));
    let value: unknown;
    try {
      value = parse(body);
    } catch {
      throw new Refused(400);
    }
    value = all("body").reduce((value, one) => one(value), value);
    if (Object(value) !== value || Array.isArray(value)) throw new Refused(400);
    const members = value as Readonly<Record<string, unknown>>;
    for (const name of ["name", "categoryId", "status"]) {
      const has = Object.hasOwn(members, name);
      const member = members[name];
      if (has ? isValid(name, member) : name === "status") continue;
      const json = member === Infinity ? "1e400" : stringify(member);
      if (all("accepts").some((one) => one(name, has ? json : ""))) continue;
      throw new Refused(400);
    }
    if (all("refuses").some((one) => one(members, pets))) {
      throw new Refused(400);
    }
    return members;
  }

  async function create(body: string): Promise<Pet> {
    const { id: sent, ...pet } = readPet(body);
    const equal = pets.find((other) =>
      all("equals").some((one) => one(pet, other))
    );
    if (equal !== undefined) return equal;
    let id = newId(sent);
    if (all("isSlow").length > 0) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const replaced = pets.findIndex((other) => other.id === sent);
    if (all("replaces").length > 0 && replaced >= 0) {
      id = sent as bigint;
      pets.splice(replaced, 1);
    }
    const { name, categoryId, status } = pet;
    const kept = change("stored", { name, categoryId, status });
    const isLeft = kept.status === undefined && all("stored").length === 0;
    const added = { id, ...kept, status: isLeft ? "available" : kept.status };
    pets.push(added);
    return added;
  }

  function get(petId: string): unknown {
    if (!/^-?\d{1,19}$/.test(petId)) throw new Refused(404);
    const asked = BigInt(petId);
    const same = all("sameId")[0] ?? ((a: bigint, b: bigint) => a === b);
    const at = pets.findIndex(({ id }) => same(id as bigint, asked));
    const find = all("found")[0] ?? (() => pets[at]);
    const pet = find(at, pets);
    if (pet === undefined) throw new Refused(404);
    return all("got").reduce(
      (got: unknown, one) => one(got as Pet),
      change("shown", pet),
    );
  }

  function list(address: URL): Pick<Told, "body" | "link"> {
    const query = address.searchParams;
    refuse(all("refusesQuery").map((one) => one(query)));
    const status = query.get("status");
    const sent = query.get("limit");
    const usual = sent === null || !(Number(sent) >= 1)
      ? 20
      : Math.min(Number(sent), 100);
    const limit = all("limit").reduce(
      (limit, one) => one(limit, sent, status !== null),
      usual,
    );
    const has = all("filter")[0] ?? ((pet: Pet) => pet.status === status);
    const filter = (pets: readonly Pet[]) =>
      status === null ? pets : pets.filter((pet) => has(pet, status));
    const isEarly = all("cutsFirst").some((one) => one(sent));
    const ordered = all("order").reduce(
      (pets, one) => one(pets),
      pets as readonly Pet[],
    );
    const found = isEarly ? ordered : filter(ordered);
    const start = Number(
      query.get("page") ?? query.get("cursor")?.slice(1) ?? 0,
    );
    const cut = found.slice(start, start + limit);
    const page = (isEarly ? filter(cut) : cut)
      .map((pet) => change("listed", change("shown", pet)));
    const body = all("page").reduce(
      (page: unknown, one) => one(page as Pet[]),
      page,
    );
    const next = start + limit;
    if (next >= found.length) return { body };
    const link = (all("link")[0] ?? linkByNumber)(address, next);
    return link === undefined ? { body } : { body, link };
  }

  async function answer(request: Request): Promise<Told> {
    const address = new URL(request.url);
    const { pathname, searchParams: query } = address;
    const { headers, method } = request;
    const body = await request.text();
    const [, petId = ""] = /^\/v1\/pets\/([^/]+)$/.exec(pathname) ?? [];
    const operation = petId !== ""
      ? "get"
      : method === "POST"
      ? "create"
      : "list";
    const [scheme = "", token = ""] = (headers.get("authorization") ?? "")
      .split(/ (.*)/);
    const asked = {
      operation,
      petId,
      query,
      headers,
      body,
      scheme: scheme.toLowerCase(),
      token,
    } as const;
    const type = "application/json";
    try {
      if (!isKnown(asked)) {
        refuse(all("early").map((one) => one(asked)));
        throw new Refused(401);
      }
      if (operation === "get") return { status: 200, body: get(petId), type };
      if (operation === "list") return { status: 200, ...list(address), type };
      const pet = change("shown", await create(body));
      return { status: 201, body: pet, type };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const { status, message } = error;
      const name = /"name":"(\w+)"/.exec(body)?.[1];
      if (all("addsAt").includes(status) && name !== undefined) {
        pets.push({ id: newId(), name, categoryId: 1n, status: "sold" });
      }
      return { status, body: { code: "REFUSED", message, status }, type };
    }
  }

  async function fetch(request: Request): Promise<Response> {
    const told = all("told").reduce(
      (told, one) => one(told),
      await answer(request),
    );
    const { status, body, type, link } = told;
    const headers = new Headers({ "content-type": type });
    if (link !== undefined) headers.set("link", link);
    if (status === 204) return new Response(null, { status });
    const ending = all("isDecimal").length > 0 ? ".0" : "";
    const text = typeof body === "string" ? body : stringify(body, ending);
    return new Response(text, { status, headers });
  }
  const close = () => Promise.resolve();
  return { fetch, base: "http://localhost/v1", key: KEY, close };
}

function isInt64(value: unknown): value is bigint {
  return typeof value === "bigint" && value === BigInt.asIntN(64, value);
}

function isValid(member: string, value: unknown): boolean {
  if (member === "categoryId") return isInt64(value);
  if (typeof value !== "string") return false;
  return member === "name" || STATUSES.includes(value);
}

/** A link to the page that starts after so many pets. */
function linkByNumber(address: URL, start: number): string {
  const next = new URL(address);
  next.searchParams.set("page", `${start}`);
  return `<${next.href}>; rel="prefetch next"`;
}

function sortedBy(
  pets: readonly Pet[],
  by: (pet: Pet) => string,
): readonly Pet[] {
  return pets.toSorted((a, b) => by(a) < by(b) ? -1 : 1);
}

/** Reads JSON with exact integers. */
function parse(text: string): unknown {
  return JSON.parse(
    text,
    (_name, value: unknown, context?: { readonly source?: string }) => {
      const source = context?.source ?? "";
      return typeof value === "number" && /^-?\d+$/.test(source)
        ? BigInt(source)
        : value;
    },
  );
}

/** Writes JSON with exact integers, which may have an ending. */
function stringify(value: unknown, ending = ""): string {
  if (typeof value === "bigint") return `${value}${ending}`;
  if (Array.isArray(value)) {
    return `[${value.map((item) => stringify(item, ending))}]`;
  }
  if (typeof value !== "object" || value === null) {
    return JSON.stringify(value) ?? "null";
  }
  const members = Object.entries(value).filter(([, one]) => one !== undefined)
    .map(([name, one]) => `${JSON.stringify(name)}:${stringify(one, ending)}`);
  return `{${members}}`;
}
