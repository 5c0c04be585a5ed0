/**
 * A pet store that follows the interface, with mistakes and freedoms to switch on: the judge has to blame
 * each mistake, whatever freedoms a store takes, and no freedom.
 */

import { isInt64 } from "../../core/json.ts";
import { parseJson } from "../support/parse_json.ts";
import type { OpenService } from "../contract/ask.ts";
import { INTERFACE_CLAUSES } from "../contract/interface_contract.ts";
import type { Check } from "../contract/pets_client.ts";

const KEY = "Se-Kret7";
const STATUSES = ["available", "pending", "sold"];

interface Pet {
  readonly id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  readonly status: string | undefined;
}

interface NewPet extends Pick<Pet, "name" | "categoryId"> {
  readonly id?: unknown;
  readonly status?: string;
}

/** A request, read. */
interface Asked {
  readonly operation: "list" | "create" | "get";
  readonly petId: string;
  readonly address: URL;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly body: string;
  /** The scheme, in lower case, and the token of `Authorization`. */
  readonly scheme: string;
  readonly token: string;
}

/** An answer before it is written; `body` may be any value. */
interface Told {
  readonly status: number;
  readonly body: unknown;
  readonly type?: string;
  readonly link?: string | undefined;
}

/** Everything that a mistake or a freedom can change; those that are switched on are applied in turn. */
interface Change {
  /** Takes the request for another one, such as one with a valid key. */
  readonly asked?: (asked: Asked) => Partial<Asked> | false;
  /** Refuses a request without a valid key, or with one: a status, or 0. */
  readonly early?: (asked: Asked) => number;
  readonly refuses?: (asked: Asked, pets: readonly Pet[]) => number;
  /** Adds the pet of a create that is refused with this status. */
  readonly addsAt?: number;
  /** The status of a pet that was sent without; empty for none. */
  readonly leftOut?: string;
  /** Gives an id to the pet that is added after so many. */
  readonly id?: (index: bigint, sent: unknown) => bigint | undefined;
  /** Adds a pet in another way; `sent` is the id in the body. */
  readonly adds?: (pets: Pet[], pet: Pet, sent: unknown) => Pet | Promise<Pet>;
  /** Changes a pet as it is stored, or shown in any answer. */
  readonly stored?: (pet: Pet) => Pet;
  readonly shown?: (pet: Pet) => object;
  readonly find?: (pets: readonly Pet[], id: bigint) => Pet | undefined;
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
  /** The link of a page to the next, which starts after so many pets. */
  readonly link?: (address: URL, start: number) => string | undefined;
  /** Changes an answer. */
  readonly told?: (told: Told, asked: Asked) => Told;
  /** The end of each integer, such as `.0`. */
  readonly ending?: string;
  /** The number of pets at the start. */
  readonly size?: number;
}

type Changes = Readonly<Record<string, Change>>;

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

/** Changes the answers that have a status into ones without a member of the error. */
const without = (status: number, member: string): Change =>
  at(status, (body) => ({ ...body, [member]: undefined }));

/** Changes the body of a page, each pet on it, or the pet that was asked for. */
const page = (change: (pets: readonly Pet[]) => unknown): Change => ({
  told: (told, { operation }) =>
    operation === "list" && told.status === 200
      ? { ...told, body: change(told.body as readonly Pet[]) }
      : told,
});
const listed = (change: (pet: Pet) => object): Change =>
  page((pets) => pets.map(change));
const got = (change: (pet: Pet) => object): Change => ({
  told: (told, { operation }) =>
    operation === "get" && told.status === 200
      ? { ...told, body: change(told.body as Pet) }
      : told,
});

/** Changes names as they are stored. */
const names = (change: (name: string) => string): Change => ({
  stored: (pet) => ({ ...pet, name: change(pet.name) }),
});

/** Changes the category of a pet. */
const category = <T>(change: (id: bigint) => T) => (pet: Pet) => ({
  ...pet,
  categoryId: change(pet.categoryId),
});
const categories = (change: (id: bigint) => bigint): Change => ({
  stored: category(change),
});

const limit = (limit: NonNullable<Change["limit"]>): Change => ({ limit });

/** Finds the pet whose id equals the one asked for. */
const sameId = (isSame: (id: bigint, asked: bigint) => boolean) => ({
  find: (pets: readonly Pet[], asked: bigint) =>
    pets.find(({ id }) => isSame(id, asked)),
});

/** Finds a pet from the place of the one asked for, if there is one. */
const findAt = (
  choose: (at: number, pets: readonly Pet[]) => Pet | undefined,
) => ({
  find(pets: readonly Pet[], asked: bigint) {
    const at = pets.findIndex(({ id }) => id === asked);
    return at < 0 ? undefined : choose(at, pets);
  },
});

/** Lets in requests that satisfy a condition. */
const letsIn = (isLetIn: (asked: Asked) => boolean): Change => ({
  asked: (asked) => isLetIn(asked) && { scheme: "bearer", token: KEY },
});
const withoutKey = (operation: Asked["operation"]): Change =>
  letsIn((asked) => asked.operation === operation && asked.scheme === "");
const withAnyKey = (operation: Asked["operation"]): Change =>
  letsIn((asked) => asked.operation === operation && asked.scheme === "bearer");
const withToken = (isValid: (token: string) => boolean): Change =>
  letsIn(({ scheme, token }) => scheme === "bearer" && isValid(token));
const inQuery = (name: string): Change =>
  letsIn(({ query }) => query.get(name) === KEY);

/** Refuses a create with this body, or a query with this limit. */
const atBody = (text: string, status: number): Change => ({
  refuses: ({ operation, body }) =>
    operation === "create" && body === text ? status : 0,
});
const atLimit = (limit: string): Change => ({
  refuses: ({ query }) => query.get("limit") === limit ? 400 : 0,
});

/** Takes the body of a create for another one. */
const takesFor = (change: (body: string) => string): Change => ({
  asked: ({ body }) => ({ body: change(body) }),
});

const VALID = { name: '"Rex"', categoryId: "1", status: '"sold"' } as const;

/** Mistakes of a store that accepts one of these values of a member, as JSON between spaces. */
function accepts(member: keyof typeof VALID, values: string): Changes {
  return Object.fromEntries(
    values.split(" ").map((value) => [
      `${member} is ${value}`,
      takesFor((body) =>
        body.replace(`"${member}":${value}`, `"${member}":${VALID[member]}`)
      ),
    ]),
  );
}

/** A mistake of a store that fills in a member if it is missing. */
const fillsIn = (member: keyof typeof VALID): Change =>
  takesFor((body) =>
    body.includes(`"${member}"`)
      ? body
      : body.replace("{", `{"${member}":${VALID[member]},`)
  );

const round = (id: bigint) => BigInt(Number(id));
const isText = ({ headers }: Asked) =>
  headers.get("content-type") === "text/plain";

/** Mistakes, by the clause that each breaks. */
const CHANGES: Readonly<Record<string, Changes>> = {
  "no key is 401 with an Error body, whatever the operation": {
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
  },
  "no key or a wrong one is 401, whatever else is wrong with the request": {
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
  "a wrong key is 401 with an Error body, whatever the operation": {
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
  },
  "a key in another case is 401": {
    "keys are lower-cased": letsIn(({ token }) =>
      token.toLowerCase() === KEY.toLowerCase()
    ),
  },
  "a key without the scheme Bearer is 401": {
    "a key needs no scheme": letsIn(({ headers }) =>
      headers.get("authorization") === KEY
    ),
    "any scheme will do": letsIn(({ token }) => token === KEY),
    "Basic will do": letsIn(({ token }) => token === btoa(`${KEY}:`)),
    "Bearer needs no key": letsIn(({ headers }) =>
      headers.get("authorization") === "Bearer"
    ),
  },
  "a key in the query or the body opens nothing": {
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
  },
  "createPet answers 201 with the animal and a new id": {
    "201 is 200": at(201, { status: 200 }),
    "201 is text": at(201, text),
    "201 has only the id": at(201, (body) => ({ id: (body as Pet).id })),
    "ids are strings": { shown: (pet) => ({ ...pet, id: `${pet.id}` }) },
    "every id is 1": { id: () => 1n },
    "the status is ignored": {
      stored: (pet) => ({ ...pet, status: "available" }),
    },
    "an equal pet gets the same id": {
      adds: (pets, pet) =>
        pets.find(({ name }) => name === pet.name) ?? add(pets, pet),
    },
  },
  "createPet gives animals that are added at once an id each": {
    "ids are taken before a pause": {
      async adds(pets, pet) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        return add(pets, pet);
      },
    },
  },
  "createPet assigns the id itself, whatever the body says": {
    "the id of the body is taken": {
      id: (_index, sent) => typeof sent === "bigint" ? sent : undefined,
    },
    "the id of the body replaces": {
      adds(pets, pet, sent) {
        const at = pets.findIndex(({ id }) => id === sent);
        if (at < 0) return add(pets, pet);
        const [{ id }] = pets.splice(at, 1) as [Pet];
        return add(pets, { ...pet, id });
      },
    },
  },
  "getPet answers the animal with this id, and no other": {
    "ids are looked up as doubles": {
      id: (index) => 2n ** 60n + index,
      ...sameId((a, b) => round(a) === round(b)),
    },
    "ids are looked up as 32 bits": sameId((a, b) =>
      BigInt.asIntN(32, a) === BigInt.asIntN(32, b)
    ),
    "getPet answers the next pet": findAt((at, pets) =>
      pets[at + 1] ?? pets[0]
    ),
    "getPet answers the first pet": findAt((_at, pets) => pets[0]),
    "getPet finds nothing": sameId(() => false),
    "getPet answers in an array": got((pet) => [pet]),
    "getPet loses the status": got((pet) => ({ ...pet, status: undefined })),
  },
  "getPet answers 404 if no animal has the id": {
    "404 is 200 with null": at(404, { status: 200, body: null }),
    "404 is 204": at(404, { status: 204 }),
    "404 is 400": at(404, { status: 400 }),
    "404 is text": at(404, text),
    "404 is problem+json": at(404, { type: "application/problem+json" }),
    "a missing pet is made up": at(404, {
      status: 200,
      body: { id: 1n, name: "Nobody", categoryId: 1n },
    }),
  },
  "a categoryId is any int64, exact to the last digit in, stored and out": {
    "categories are doubles": categories(round),
    "categories are doubles in the listing": listed(category(round)),
    "categories are doubles in getPet": got(category(round)),
    "categories wrap at 32 bits": categories((id) => BigInt.asIntN(32, id)),
    "categories end at 2^53": categories((id) =>
      id > 2n ** 53n ? 2n ** 53n : id
    ),
    "categories are positive": categories((id) => id < 0n ? -id : id),
    "categories are strings if not 1": {
      shown: category((id) => id === 1n ? id : `${id}`),
    },
    "categories are 1": categories(() => 1n),
  },
  "createPet keeps a name as it is sent, or refuses it": {
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
    "names are cut in the listing": listed((pet) => ({
      ...pet,
      name: pet.name.slice(0, 64),
    })),
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
  },
  "createPet takes a surrogate pair however it is spelled": {
    "surrogates are replaced": names((name) =>
      name.replaceAll(/[\ud800-\udfff]/g, "\ufffd")
    ),
    "spelled surrogates are refused": {
      refuses: ({ body }) => /\\ud83d/i.test(body) ? 400 : 0,
    },
  },
  "createPet refuses a name that is not a string": accepts(
    "name",
    "null 7 true false [] {}",
  ),
  "createPet refuses a categoryId with a fraction": {
    ...accepts("categoryId", "1.5 -0.5"),
    "400, but the pet is added": { addsAt: 400 },
  },
  "createPet refuses a categoryId beyond int64": accepts(
    "categoryId",
    "9223372036854775808 -9223372036854775809 1e400",
  ),
  "createPet refuses a categoryId that is not a number": accepts(
    "categoryId",
    '"1" null true false [] [1] {}',
  ),
  "createPet refuses a status that is none of the three": accepts(
    "status",
    '"" "Sold" "gone"',
  ),
  "createPet refuses a status that is not a string": accepts(
    "status",
    'null 7 true ["sold"] {}',
  ),
  "a body that is missing, is not a JSON object, or lacks a field is 400": {
    "a missing body is 500": atBody("", 500),
    "a missing body is 415": atBody("", 415),
    "a body that is no JSON is 500": atBody("{", 500),
    "null is 500": atBody("null", 500),
    "an array adds its first": takesFor((body) =>
      body.replace(/^\[(.*)\]$/, "$1")
    ),
    "a missing name is accepted": fillsIn("name"),
    "a missing categoryId is accepted": fillsIn("categoryId"),
    "400 is 422": at(400, { status: 422 }),
    "400 is text": at(400, text),
    "400 has no message": without(400, "message"),
  },
  "listPets answers an array of animals": {
    "the listing is in an object": page((items) => ({ items })),
    "the listing is text": {
      told: (told) =>
        Array.isArray(told.body) ? { ...told, type: "text/plain" } : told,
    },
    "the listing lacks categories": listed((pet) => ({
      ...pet,
      categoryId: undefined,
    })),
    "the listing lacks the newest": { order: (pets) => pets.slice(0, -1) },
    "the listing has pets twice": page((pets) =>
      pets.flatMap((pet) => [pet, pet]).slice(0, pets.length)
    ),
  },
  "listPets filters by each status": {
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
  },
  "listPets applies limit after the filter by status": {
    "limit comes before the filter": { cutsFirst: () => true },
    "limit is ignored with a status": limit((limit, _sent, hasStatus) =>
      hasStatus ? 100 : limit
    ),
    "limit is one more": limit((limit) => limit + 1),
    "limit is one less": limit((limit) => limit - 1),
  },
  "listPets answers 20 animals if no limit is sent": {
    "the default is ignored with a status": limit((limit, sent, hasStatus) =>
      hasStatus && sent === null ? 100 : limit
    ),
    "the default comes before the filter": {
      cutsFirst: (sent) => sent === null,
    },
    "the default is 10": limit((limit, sent) => sent === null ? 10 : limit),
    "the default is 100": limit((limit, sent) => sent === null ? 100 : limit),
  },
  "listPets takes a limit from 1 to 100": {
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
  },
  "listPets answers 100 animals at most": {
    "limit has no end": limit((limit, sent) =>
      Number(sent) > 100 ? Number(sent) : limit
    ),
    "limit has no end with a status": limit((limit, sent, hasStatus) =>
      hasStatus && Number(sent) > 100 ? Number(sent) : limit
    ),
  },
};

const noLink = { link: () => undefined };

const isUnknownParameter = (name: string) =>
  !/^(?:limit|status|page|cursor)$/.test(name);

/** Refuses an invalid query with a status. */
const atBadQuery = (status: number): Change => ({
  refuses({ query }) {
    const limit = query.get("limit") ?? "1";
    const isBad = !STATUSES.includes(query.get("status") ?? "sold") ||
      !/^(?:[1-9]\d?|100)$/.test(limit);
    return isBad ? status : 0;
  },
});

/** Refuses valid pets with 400. */
const refuses = (
  isRefused: (pet: NewPet, pets: readonly Pet[]) => boolean,
): Change => ({
  refuses({ body }, pets) {
    const pet = parsePet(body);
    return pet !== undefined && isRefused(pet, pets) ? 400 : 0;
  },
});

/** Freedoms that the interface leaves, and what they change. */
const TAKEN: Changes = {
  "ids start at 0": { id: (index) => index },
  "ids go down from -1": { id: (index) => -1n - index },
  "ids are beyond 2^53": { id: (index) => 2n ** 60n + index },
  "ids are scattered": {
    id: (index) => BigInt.asUintN(31, index * 2654435761n + 12345n),
  },
  "the newest comes first": { order: (pets) => pets.toReversed() },
  "pets come by name": { order: (pets) => sortedBy(pets, ({ name }) => name) },
  "pets come in a mixed order": {
    order: (pets) =>
      sortedBy(pets, ({ id }) => `${id * 40503n % 65537n} ${id}`),
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
    refuses: ({ query }) => query.get("page") === "x" ? 500 : 0,
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
    told: ({ type = "application/json", ...told }) => ({
      ...told,
      type: type.replace(/json$/, "json; charset=utf-8"),
    }),
  },
  "integers end in .0": { ending: ".0" },
  "a status that is left out is pending": { leftOut: "pending" },
  "a status that is left out stays away": { leftOut: "" },
  "an invalid query is 400": atBadQuery(400),
  "an invalid query is 422": atBadQuery(422),
  "an odd petId is 400": {
    early: ({ petId }) => petId === "" || /^-?\d+$/.test(petId) ? 0 : 400,
  },
  "unknown parameters are 400": {
    refuses: ({ query }) =>
      [...query.keys()].some(isUnknownParameter) ? 400 : 0,
  },
  "unknown members are 400": refuses((pet) =>
    Object.keys(pet).some((name) => !/^(?:name|categoryId|status)$/.test(name))
  ),
  "categories beyond 32 bits are 400": refuses(({ categoryId: id }) =>
    id !== BigInt.asIntN(32, id)
  ),
  "categories below 1 are 400": refuses(({ categoryId }) => categoryId < 1n),
  "long names are 400": refuses(({ name }) => name.length > 40),
  "blank names are 400": refuses(({ name }) => name.trim() !== name),
  "names with spaces are 400": refuses(({ name }) => /\s/.test(name)),
  "names that are not ASCII are 400": refuses(({ name }) =>
    /\P{ASCII}/u.test(name)
  ),
  "names that are taken are 400": refuses(({ name }, pets) =>
    pets.some((pet) => pet.name === name)
  ),
  "other keys are valid, too": withToken((token) => token === "another"),
};

/** Mistakes, and the clause that each breaks. */
export const MISTAKES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(CHANGES).flatMap(([clause, changes]) =>
    Object.keys(changes).map((mistake) => [mistake, clause])
  ),
);
const MADE: Changes = Object.assign({}, ...Object.values(CHANGES));

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

/** A new store with these mistakes and freedoms, as a service to judge. */
export function serviceWith(...switches: readonly string[]): OpenService {
  // A mistake in the id comes before a freedom in it: the last wins.
  const changes = switches.toReversed().map((name) => {
    const change = MADE[name] ?? TAKEN[name];
    if (change === undefined) throw new Error(`Unknown switch: ${name}`);
    return change;
  });
  /** The functions of one kind, of all that is switched on. */
  function all<K extends keyof Change>(kind: K): NonNullable<Change[K]>[] {
    return changes.map((change) => change[kind]).filter((one) =>
      one !== undefined
    );
  }

  const pets: Pet[] = [];
  const newId = (sent?: unknown): bigint => {
    const index = BigInt(pets.length);
    return all("id").reduce((id, one) => one(index, sent) ?? id, index + 1n);
  };
  for (let i = 0; i < Math.max(0, ...all("size")); i++) {
    const name = `Old${String.fromCharCode(97 + i % 26)}`;
    add(pets, { id: newId(), name, categoryId: 5n, status: STATUSES[i % 3] });
  }

  function show(pet: Pet): object {
    return all("shown").reduce((shown: object, one) => one(shown as Pet), pet);
  }

  async function create(
    { id: sent, name, categoryId, status }: NewPet,
  ): Promise<Pet> {
    const [leftOut = "available"] = all("leftOut");
    const pet = all("stored").reduce((pet, one) => one(pet), {
      id: newId(sent),
      name,
      categoryId,
      status: status ?? (leftOut || undefined),
    });
    const [adds = add] = all("adds");
    return await adds(pets, pet, sent);
  }

  function list({ address, query }: Asked): Told {
    const [status, sent] = [query.get("status"), query.get("limit")];
    const limit = all("limit").reduce(
      (limit, one) => one(limit, sent, status !== null),
      Number(sent) >= 1 ? Math.min(Number(sent), 100) : 20,
    );
    const has = all("filter")[0] ?? ((pet: Pet) => pet.status === status);
    const filter = (pets: readonly Pet[]) =>
      status === null ? pets : pets.filter((pet) => has(pet, status));
    const cutsFirst = all("cutsFirst").some((one) => one(sent));
    const ordered = all("order").reduce(
      (pets, one) => one(pets),
      pets as readonly Pet[],
    );
    const found = cutsFirst ? ordered : filter(ordered);
    const cursor = query.get("page") ?? query.get("cursor")?.slice(1);
    const start = Number(cursor ?? 0);
    const next = start + limit;
    const cut = found.slice(start, next);
    const [link = linkByNumber] = all("link");
    return {
      status: 200,
      body: (cutsFirst ? filter(cut) : cut).map(show),
      link: next < found.length ? link(address, next) : undefined,
    };
  }

  function refuse(status: number, body = ""): Told {
    const name = /"name":"(\w+)"/.exec(body)?.[1];
    if (all("addsAt").includes(status) && name !== undefined) {
      add(pets, { id: newId(), name, categoryId: 1n, status: "sold" });
    }
    const error = { code: "REFUSED", message: "It is refused", status };
    return { status, body: error };
  }

  async function answer(asked: Asked): Promise<Told> {
    const { operation, petId, body, scheme, token } = asked;
    const isKnown = scheme === "bearer" && token === KEY;
    const refusals = isKnown ? all("refuses") : all("early");
    const refused = refusals.map((one) => one(asked, pets))
      .find((status) => status > 0);
    if (refused !== undefined) return refuse(refused, body);
    if (!isKnown) return refuse(401, body);
    if (operation === "list") return list(asked);
    if (operation === "create") {
      const pet = parsePet(body);
      if (pet === undefined) return refuse(400, body);
      return { status: 201, body: show(await create(pet)) };
    }
    const [find = sameId((a, b) => a === b).find] = all("find");
    const pet = /^-?\d{1,19}$/.test(petId)
      ? find(pets, BigInt(petId))
      : undefined;
    return pet === undefined ? refuse(404) : { status: 200, body: show(pet) };
  }

  async function fetch(request: Request): Promise<Response> {
    const { headers } = request;
    const address = new URL(request.url);
    const [, petId = ""] = /^\/v1\/pets\/([^/]+)$/.exec(address.pathname) ?? [];
    const isCreate = request.method === "POST";
    const [scheme = "", token = ""] = (headers.get("authorization") ?? "")
      .split(/ (.*)/);
    const sent: Asked = {
      operation: petId !== "" ? "get" : isCreate ? "create" : "list",
      petId,
      address,
      query: address.searchParams,
      headers,
      body: await request.text(),
      scheme: scheme.toLowerCase(),
      token,
    };
    const asked = all("asked").reduce(
      (asked, one) => ({ ...asked, ...one(asked) }),
      sent,
    );
    const told = all("told").reduce(
      (told, one) => one(told, asked),
      await answer(asked),
    );
    const { status, body, type = "application/json", link } = told;
    if (status === 204) return new Response(null, { status });
    const fields = { "content-type": type, ...link !== undefined && { link } };
    const text = typeof body === "string"
      ? body
      : stringify(body, all("ending").join(""));
    return new Response(text, { status, headers: fields });
  }

  const close = () => Promise.resolve();
  return { fetch, base: "http://localhost/v1", key: KEY, close };
}

function add(pets: Pet[], pet: Pet): Pet {
  pets.push(pet);
  return pet;
}

/** Reads the body of a create; `undefined` if it is no pet. */
function parsePet(body: string): NewPet | undefined {
  let value: unknown;
  try {
    value = parseJson(body);
  } catch {
    return undefined; // it is no JSON
  }
  const { name, categoryId, status = "sold" } = Object(value);
  const isPet = typeof name === "string" && isInt64(categoryId) &&
    STATUSES.includes(status);
  return isPet ? value as NewPet : undefined;
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

/** Writes JSON with exact integers, which may have an ending. */
function stringify(value: unknown, ending: string): string {
  // TypeScript has no type for this yet.
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
  return JSON.stringify(
    value,
    (_name, one) => typeof one === "bigint" ? rawJSON(one + ending) : one,
  );
}
