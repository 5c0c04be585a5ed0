/**
 * A pet store that follows the interface, with mistakes and freedoms that can be switched on: the judge has
 * to blame each mistake, whatever freedoms a store takes, and no freedom.
 */

import type { OpenService } from "../contract/ask.ts";
import type { Check } from "../contract/clause.ts";
import { INTERFACE_CLAUSES } from "../contract/interface_contract.ts";

const NO_KEY = "no key is 401 with an Error body, whatever the operation";
const NO_KEY_EITHER =
  "no key or a wrong one is 401, whatever else is wrong with the request";
const WRONG_KEY =
  "a wrong key is 401 with an Error body, whatever the operation";
const KEY_CASE = "a key in another case is 401";
const SCHEME = "a key without the scheme Bearer is 401";
const ELSEWHERE = "a key in the query or the body opens nothing";
const CREATED = "createPet answers 201 with the animal and a new id";
const AT_ONCE = "createPet gives animals that are added at once an id each";
const OWN_ID = "createPet assigns the id itself, whatever the body says";
const THIS_ID = "getPet answers the animal with this id, and no other";
const NOT_FOUND = "getPet answers 404 if no animal has the id";
const EXACT =
  "a categoryId is any int64, exact to the last digit in, stored and out";
const NAME = "createPet keeps a name as it is sent, or refuses it";
const PAIR = "createPet takes a surrogate pair however it is spelled";
const BODY =
  "a body that is missing, is not a JSON object, or lacks a field is 400";
const LISTED = "listPets answers an array of animals";
const FILTER = "listPets filters by each status";
const LIMIT_AFTER_FILTER = "listPets applies limit after the filter by status";
const DEFAULT_LIMIT = "listPets answers 20 animals if no limit is sent";
const LIMIT = "listPets takes a limit from 1 to 100";
const MOST = "listPets answers 100 animals at most";

/** Values that a store may accept by mistake, as JSON, and the clause that forbids each. */
const ACCEPTED = {
  ...accepting("name", "a name that is not a string", [
    ...["null", "7", "true", "false", "[]", "{}"],
  ]),
  ...accepting("categoryId", "a categoryId with a fraction", ["1.5", "-0.5"]),
  ...accepting("categoryId", "a categoryId beyond int64", [
    ...["9223372036854775808", "-9223372036854775809", "1e400"],
  ]),
  ...accepting("categoryId", "a categoryId that is not a number", [
    ...['"1"', "null", "true", "false", "[]", "[1]", "{}"],
  ]),
  ...accepting("status", "a status that is none of the three", [
    ...['""', '"Sold"', '"gone"'],
  ]),
  ...accepting("status", "a status that is not a string", [
    ...["null", "7", "true", '["sold"]', "{}"],
  ]),
};

/** Mistakes, and the clause that each breaks. */
export const MISTAKES: Readonly<Record<string, string>> = {
  ...ACCEPTED,
  // Keys
  "GET /pets needs no key": NO_KEY,
  "GET /pets/ID needs no key": NO_KEY,
  "POST /pets needs no key": NO_KEY,
  "401 is 403": NO_KEY,
  "401 is text": NO_KEY,
  "401 has no code": NO_KEY,
  "401 has no message": NO_KEY,
  "401 has a status in quotes": NO_KEY,
  "401 has another status": NO_KEY,
  "401, but the pet is added": NO_KEY,
  "the pet is looked up before the key": NO_KEY_EITHER,
  "the query is checked before the key": NO_KEY_EITHER,
  "the body is checked before the key": NO_KEY_EITHER,
  "the media type is checked before the key": NO_KEY_EITHER,
  "any key will do": WRONG_KEY,
  "any key will do for GET /pets/ID": WRONG_KEY,
  "any key will do for POST /pets": WRONG_KEY,
  "a key may be longer": WRONG_KEY,
  "a key may be shorter": WRONG_KEY,
  "a key may be one of several": WRONG_KEY,
  "a key may end with the key": WRONG_KEY,
  "keys are lower-cased": KEY_CASE,
  "a key needs no scheme": SCHEME,
  "any scheme will do": SCHEME,
  "Basic will do": SCHEME,
  "Bearer needs no key": SCHEME,
  "a key may be in access_token": ELSEWHERE,
  "a key may be in api_key": ELSEWHERE,
  "a key may be in key": ELSEWHERE,
  "a key may be in token": ELSEWHERE,
  "a key may be in the body": ELSEWHERE,
  "a key may be in X-API-Key": ELSEWHERE,
  "a key may be in a form": ELSEWHERE,
  // Pets
  "201 is 200": CREATED,
  "201 is text": CREATED,
  "201 has no pet": CREATED,
  "ids are strings": CREATED,
  "every id is 1": CREATED,
  "the status is ignored": CREATED,
  "an equal pet gets the same id": CREATED,
  "ids are read before a pause": AT_ONCE,
  "the id of the body is taken": OWN_ID,
  "the id of the body replaces": OWN_ID,
  "ids are looked up as doubles": THIS_ID,
  "ids are looked up as 32 bits": THIS_ID,
  "getPet answers the next pet": THIS_ID,
  "getPet answers the first pet": THIS_ID,
  "getPet finds nothing": THIS_ID,
  "getPet answers in an array": THIS_ID,
  "getPet loses the status": THIS_ID,
  "404 is 200 with null": NOT_FOUND,
  "404 is 204": NOT_FOUND,
  "404 is 400": NOT_FOUND,
  "404 is text": NOT_FOUND,
  "404 is problem+json": NOT_FOUND,
  "a missing pet is made up": NOT_FOUND,
  "categories are doubles": EXACT,
  "categories are doubles in the listing": EXACT,
  "categories are doubles in getPet": EXACT,
  "categories wrap at 32 bits": EXACT,
  "categories end at 2^53": EXACT,
  "categories are positive": EXACT,
  "categories are strings": EXACT,
  "categories are 1": EXACT,
  "names are trimmed": NAME,
  "names are trimmed at their end": NAME,
  "names are escaped": NAME,
  "names are NFC": NAME,
  "names are NFD": NAME,
  "names are NFKC": NAME,
  "names are cut at 32": NAME,
  "names are cut at 50": NAME,
  "names are cut at 100": NAME,
  "names are cut at 255": NAME,
  "names are cut in the listing": NAME,
  "names are cut at 300 bytes": NAME,
  "names are numbers if they can be": NAME,
  "names are lower-cased": NAME,
  "names have single spaces": NAME,
  "names lose backslashes": NAME,
  "names lose what is not ASCII": NAME,
  "names lose control characters": NAME,
  "names double percent signs": NAME,
  "surrogates are replaced": PAIR,
  // Bodies
  "a missing body is 500": BODY,
  "a missing body is 415": BODY,
  "no JSON is 500": BODY,
  "null is 500": BODY,
  "an array adds its first": BODY,
  "a missing name is accepted": BODY,
  "a missing categoryId is accepted": BODY,
  "400 is 422": BODY,
  "400 is text": BODY,
  "400 has no message": BODY,
  "400, but the pet is added": "createPet refuses a categoryId with a fraction",
  // Listing
  "the listing is in an object": LISTED,
  "the listing is text": LISTED,
  "the listing lacks categories": LISTED,
  "the listing lacks the newest": LISTED,
  "the listing has pets twice": LISTED,
  "the filter is ignored": FILTER,
  "the filter knows no pending": FILTER,
  "the filter finds all but": FILTER,
  "sold pets are left out": FILTER,
  "limit comes before the filter": LIMIT_AFTER_FILTER,
  "limit is ignored with a status": LIMIT_AFTER_FILTER,
  "limit is one more": LIMIT_AFTER_FILTER,
  "limit is one less": LIMIT_AFTER_FILTER,
  "the default is ignored with a status": DEFAULT_LIMIT,
  "the default comes before the filter": DEFAULT_LIMIT,
  "the default is 10": DEFAULT_LIMIT,
  "the default is 100": DEFAULT_LIMIT,
  "limit ends at 50": LIMIT,
  "limit ends at 99": LIMIT,
  "limit ends at 50 with a status": LIMIT,
  "100 is refused": LIMIT,
  "1 is refused": LIMIT,
  "limit is ignored": LIMIT,
  "limit is ignored without a status": LIMIT,
  "limit has no end": MOST,
  "limit has no end with a status": MOST,
};

/** What the interface leaves open: each may be switched on. */
export const FREEDOMS = [
  "ids start at 0",
  "ids go down from -1",
  "ids are beyond 2^53",
  "ids are scattered",
  "the newest comes first",
  "pets come by name",
  "pets come in a mixed order",
  "no page links the next",
  "pages link by number",
  "pages link by cursor among other links",
  "pages link elsewhere",
  "pages link in a circle",
  "pages link to a failure",
  "pages overlap",
  "the store has 30 pets",
  "the store has 250 pets",
  "the store has 60 pets and no links",
  "the store has 150 pets and no links",
  "pets have more members",
  "errors have more members",
  "JSON is indented, with a charset",
  "integers end in .0",
  "a status that is left out is pending",
  "a status that is left out stays away",
  "an invalid query is 400",
  "an invalid query is 422",
  "unknown parameters are 400",
  "unknown members are 400",
  "an odd petId is 400",
  "categories beyond 32 bits are 400",
  "categories below 1 are 400",
  "long names are 400",
  "blank names are 400",
  "names with spaces are 400",
  "names that are not ASCII are 400",
  "names that are taken are 400",
  "Bearer is case-sensitive",
  "other keys are valid, too",
] as const;

const IN_LISTING = [
  "categories are doubles in the listing",
  "names are cut in the listing",
  "the listing lacks categories",
  "the listing lacks the newest",
  "401, but the pet is added",
  "400, but the pet is added",
];

/** Mistakes that cannot be seen if a store takes a freedom: docs/judge.md says why. */
export const HIDDEN: Readonly<Record<string, readonly string[]>> = {
  "the store has 150 pets and no links": IN_LISTING,
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
    "names are cut at 100",
    "names are cut at 255",
    "names are cut at 300 bytes",
    "names are cut in the listing",
  ],
  "blank names are 400": [
    "names are trimmed",
    "names are trimmed at their end",
  ],
  "names with spaces are 400": [
    "names are trimmed",
    "names are trimmed at their end",
    "names have single spaces",
  ],
  "names that are not ASCII are 400": [
    "names are NFC",
    "names are NFD",
    "names are NFKC",
    "names lose what is not ASCII",
    "surrogates are replaced",
  ],
  "names that are taken are 400": ["an equal pet gets the same id"],
  "unknown members are 400": [
    "the id of the body is taken",
    "the id of the body replaces",
  ],
};

/** Something to switch on. */
export type Switch = string;

const KEY = "Se-Kret7";

interface Pet {
  readonly id: bigint;
  readonly name: unknown;
  readonly categoryId: unknown;
  readonly status?: unknown;
}

/** Thrown to refuse a request. */
class Refused extends Error {
  readonly status: number;
  constructor(status: number) {
    super("Refused");
    this.status = status;
  }
}

/** A new store with these mistakes and freedoms, as a service to judge. */
export function serviceWith(...switches: readonly Switch[]): OpenService {
  const fetch = switchableStore(...switches);
  const close = () => Promise.resolve();
  return { fetch, base: "http://localhost/v1", key: KEY, close };
}

/** The clause of the interface with a sentence. */
export function clause(sentence: string): Check {
  const check = INTERFACE_CLAUSES[sentence];
  if (typeof check === "function") return check;
  throw new Error(`No clause: ${sentence}`);
}

/** Makes a store, as a fetch function. */
function switchableStore(
  ...switches: readonly Switch[]
): (request: Request) => Promise<Response> {
  for (const name of switches) {
    if (name in MISTAKES || FREEDOMS.some((freedom) => freedom === name)) {
      continue;
    }
    throw new Error(`Unknown switch: ${name}`);
  }
  const on = new Set(switches);
  const pets: Pet[] = [];
  const sizes = switches.map((name) => /^the store has (\d+)/.exec(name)?.[1]);
  const crowd = Math.max(0, ...sizes.map((size) => Number(size ?? 0)));
  const isWithoutLinks = switches.some((name) => name.endsWith("no links"));
  for (let i = 0; i < crowd; i++) {
    const status = ["available", "pending", "sold"][i % 3];
    const name = `Old${String.fromCharCode(97 + i % 26)}`;
    pets.push({ id: idAt(pets.length, on), name, categoryId: 5n, status });
  }
  return async (request) => {
    const url = new URL(request.url);
    const body = await request.text();
    try {
      return await answer(request, url, body);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return refusal(error.status, on);
    }
  };

  async function answer(
    request: Request,
    url: URL,
    body: string,
  ): Promise<Response> {
    const { method } = request;
    const [, petId] = /^\/v1\/pets\/([^/]+)$/.exec(url.pathname) ?? [];
    const isListing = url.pathname === "/v1/pets";
    const isCreate = isListing && method === "POST";
    const isKnown = method === "GET" ? isListing || petId : isCreate;
    if (!isKnown) throw new Refused(404);
    const knows = authorize(request, url, body, on);
    if (!knows) {
      if (isCreate && on.has("the media type is checked before the key")) {
        checkType(request);
      }
      if (isCreate && on.has("the body is checked before the key")) {
        parseNewPet(body, on);
      }
      if (isListing && on.has("the query is checked before the key")) {
        if (url.searchParams.get("limit") === "0") throw new Refused(400);
      }
      if (petId && on.has("the pet is looked up before the key")) {
        find(petId);
      }
      if (isCreate && on.has("401, but the pet is added")) {
        await add(parseNewPet(body, on), body);
      }
      throw new Refused(401);
    }
    if (petId !== undefined) return getPet(petId);
    if (!isCreate) return list(url);
    if (body === "" && on.has("a missing body is 415")) throw new Refused(415);
    const taken = (name: unknown) => pets.some((pet) => pet.name === name);
    if (on.has("400, but the pet is added")) addUnchecked(body);
    const members = parseNewPet(body, on);
    if (on.has("names that are taken are 400") && taken(members.name)) {
      throw new Refused(400);
    }
    return created(await add(members, body));
  }

  function addUnchecked(body: string): void {
    try {
      parseNewPet(body, on);
    } catch {
      const name = /"name":"(\w+)"/.exec(body)?.[1];
      if (name === undefined) return;
      const id = idAt(pets.length, on);
      pets.push({ id, name, categoryId: 1n, status: "sold" });
    }
  }

  async function add(
    { name, categoryId, status }: Omit<Pet, "id">,
    body: string,
  ): Promise<Pet> {
    let id = idAt(pets.length, on);
    if (on.has("every id is 1")) id = 1n;
    if (on.has("ids are read before a pause")) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const { id: sent } = Object(parse(body)) as Partial<Pet>;
    const isNumber = typeof sent === "bigint";
    if (isNumber && on.has("the id of the body is taken")) id = sent;
    if (isNumber && on.has("the id of the body replaces")) {
      const at = pets.findIndex((pet) => pet.id === sent);
      if (at >= 0) pets.splice(at, 1);
      if (at >= 0) id = sent;
    }
    const equal = pets.find((pet) => pet.name === name);
    if (equal && on.has("an equal pet gets the same id")) return equal;
    const pet = { id, ...stored({ name, categoryId, status }, on) };
    pets.push(pet);
    return pet;
  }

  function created(pet: Pet): Response {
    if (on.has("201 has no pet")) return json({ id: pet.id }, 201, on);
    const status = on.has("201 is 200") ? 200 : 201;
    if (on.has("201 is text")) return new Response("added", { status });
    return json(shown(pet, on), status, on);
  }

  function find(text: string): Pet | undefined {
    if (!/^-?\d{1,19}$/.test(text)) {
      throw new Refused(on.has("an odd petId is 400") ? 400 : 404);
    }
    const id = BigInt(text);
    const at = pets.findIndex((pet) =>
      on.has("ids are looked up as doubles")
        ? BigInt(Number(pet.id)) === BigInt(Number(id))
        : on.has("ids are looked up as 32 bits")
        ? BigInt.asIntN(32, pet.id) === BigInt.asIntN(32, id)
        : pet.id === id
    );
    if (at >= 0 && on.has("getPet finds nothing")) throw new Refused(404);
    if (at >= 0 && on.has("getPet answers the first pet")) return pets[0];
    if (at >= 0 && on.has("getPet answers the next pet")) {
      return pets[at + 1] ?? pets[0];
    }
    if (at < 0 && on.has("a missing pet is made up")) {
      return { id, name: "Nobody", categoryId: 1n, status: "sold" };
    }
    if (at < 0 && on.has("404 is 200 with null")) return undefined;
    if (at < 0) throw new Refused(404);
    return pets[at];
  }

  function getPet(text: string): Response {
    const pet = find(text);
    if (pet === undefined) return json(null, 200, on);
    const { status: _status, ...rest } = pet;
    const found = shown(
      on.has("getPet loses the status") ? rest : pet,
      on,
    );
    const { categoryId } = pet;
    const rounded = on.has("categories are doubles in getPet") &&
      typeof categoryId === "bigint";
    const answer = rounded
      ? { ...found, categoryId: BigInt(Number(categoryId)) }
      : found;
    const isArray = on.has("getPet answers in an array");
    return json(isArray ? [answer] : answer, 200, on);
  }

  function list({ searchParams: query, href }: URL): Response {
    if (query.get("page") === "x") throw new Refused(500);
    const known = ["limit", "status", "page", "cursor"];
    const isUnknown = [...query.keys()].some((name) => !known.includes(name));
    if (isUnknown && on.has("unknown parameters are 400")) {
      throw new Refused(400);
    }
    const status = query.get("status");
    const limit = readLimit(query, on);
    const matches = (pet: Pet): boolean => {
      if (status === null || on.has("the filter is ignored")) return true;
      const isKnown = status !== "pending" ||
        !on.has("the filter knows no pending");
      if (!isKnown) return true;
      if (status === "sold" && on.has("sold pets are left out")) return false;
      const isOther = on.has("the filter finds all but");
      return (pet.status === status) !== isOther;
    };
    let all = ordered(pets, on);
    if (on.has("the listing lacks the newest")) {
      all = all.filter((pet) => pet !== pets.at(-1));
    }
    const isEarly = on.has("limit comes before the filter") ||
      on.has("the default comes before the filter") && !query.has("limit");
    const found = isEarly ? all : all.filter(matches);
    const start = Number(
      query.get("page") ?? query.get("cursor")?.slice(1) ?? 0,
    );
    let page = found.slice(start, start + limit);
    if (isEarly) page = page.filter(matches);
    if (on.has("the listing has pets twice")) {
      page = page.flatMap((pet) => [pet, pet]).slice(0, limit);
    }
    const items = page.map((pet) => {
      const { categoryId, ...rest } = shown(pet, on);
      if (on.has("the listing lacks categories")) return rest;
      const name = on.has("names are cut in the listing")
        ? `${pet.name}`.slice(0, 64)
        : pet.name;
      const isDouble = on.has("categories are doubles in the listing") &&
        typeof categoryId === "bigint";
      const exact = isDouble ? BigInt(Number(categoryId)) : categoryId;
      return { ...rest, name, categoryId: exact };
    });
    if (on.has("the listing is text")) {
      return new Response(stringify(items));
    }
    const answer = json(
      on.has("the listing is in an object") ? { items } : items,
      200,
      on,
    );
    const hasNext = start + limit < found.length;
    const next = start + limit - (on.has("pages overlap") ? 1 : 0);
    if (hasNext) link(answer.headers, href, next);
    return answer;
  }

  function link(headers: Headers, href: string, start: number): void {
    const next = new URL(href);
    if (on.has("pages link in a circle")) {
      headers.set("link", `<${href}>; rel="next"`);
    } else if (on.has("pages link to a failure")) {
      headers.set("link", '<?page=x>; rel="next"');
    } else if (on.has("pages link elsewhere")) {
      next.hostname = "elsewhere.example";
      next.searchParams.set("page", `${start}`);
      headers.set("link", `<${next.href}>; rel="next"`);
    } else if (on.has("pages link by cursor among other links")) {
      next.searchParams.set("cursor", `c${start}`);
      const first = `<${href}>; title="a, b"; rel="first last"`;
      headers.set("link", `${first}, <${next.search}>; rel=next`);
    } else if (!on.has("no page links the next") && !isWithoutLinks) {
      next.searchParams.set("page", `${start}`);
      headers.set("link", `<${next.href}>; rel="prefetch next"`);
    }
  }
}

/** The id of the pet that is added after so many. */
function idAt(index: number, on: ReadonlySet<Switch>): bigint {
  const i = BigInt(index);
  if (on.has("ids are looked up as doubles")) return 2n ** 60n + i;
  if (on.has("ids start at 0")) return i;
  if (on.has("ids go down from -1")) return -1n - i;
  if (on.has("ids are beyond 2^53")) return 2n ** 60n + i;
  if (on.has("ids are scattered")) {
    return BigInt.asUintN(31, i * 2654435761n + 12345n);
  }
  return i + 1n;
}

function authorize(
  request: Request,
  { pathname, searchParams }: URL,
  body: string,
  on: ReadonlySet<Switch>,
): boolean {
  const { method, headers } = request;
  const value = headers.get("authorization") ?? "";
  const isList = method === "GET" && pathname === "/v1/pets";
  const isGet = method === "GET" && !isList;
  const isCreate = method === "POST";
  if (value === "") {
    if (isList && on.has("GET /pets needs no key")) return true;
    if (isGet && on.has("GET /pets/ID needs no key")) return true;
    if (isCreate && on.has("POST /pets needs no key")) return true;
  }
  for (const name of ["access_token", "api_key", "key", "token"]) {
    if (!on.has(`a key may be in ${name}`)) continue;
    if (searchParams.get(name) === KEY) return true;
  }
  if (on.has("a key may be in the body") && body.includes(KEY)) return true;
  const isForm = body.startsWith(`access_token=${KEY}`);
  if (on.has("a key may be in a form") && isForm) return true;
  if (on.has("a key may be in X-API-Key") && headers.get("x-api-key") === KEY) {
    return true;
  }
  if (on.has("a key needs no scheme") && value === KEY) return true;
  if (on.has("Bearer needs no key") && value === "Bearer") return true;
  if (on.has("Basic will do") && value === `Basic ${btoa(`${KEY}:`)}`) {
    return true;
  }
  const [, scheme = "", token = ""] = /^(\S+) (.*)$/.exec(value) ?? [];
  if (on.has("any scheme will do") && token === KEY) return true;
  const isBearer = on.has("Bearer is case-sensitive")
    ? scheme === "Bearer"
    : scheme.toLowerCase() === "bearer";
  if (!isBearer) return false;
  if (on.has("any key will do")) return true;
  if (isGet && on.has("any key will do for GET /pets/ID")) return true;
  if (isCreate && on.has("any key will do for POST /pets")) return true;
  if (on.has("a key may be longer") && token.startsWith(KEY)) return true;
  if (on.has("a key may be shorter") && KEY.startsWith(token)) return true;
  if (on.has("a key may end with the key") && token.endsWith(KEY)) return true;
  if (on.has("a key may be one of several")) {
    if (token.split(",").includes(KEY)) return true;
  }
  if (on.has("keys are lower-cased")) {
    if (token.toLowerCase() === KEY.toLowerCase()) return true;
  }
  if (on.has("other keys are valid, too") && token === "another") return true;
  return token === KEY;
}

function checkType({ headers }: Request): void {
  const type = headers.get("content-type") ?? "application/json";
  if (!type.startsWith("application/json")) throw new Refused(415);
}

function parse(text: string): unknown {
  return JSON.parse(
    text,
    (_name, value: unknown, context?: { readonly source?: string }) => {
      if (typeof value !== "number") return value;
      const source = context?.source ?? "";
      if (/^-?\d+$/.test(source)) return BigInt(source);
      return Number.isSafeInteger(value) ? BigInt(value) : value;
    },
  );
}

function parseNewPet(
  body: string,
  on: ReadonlySet<Switch>,
): Omit<Pet, "id"> {
  if (body === "" && on.has("a missing body is 500")) throw new Refused(500);
  let value: unknown;
  try {
    value = parse(body);
  } catch {
    throw new Refused(on.has("no JSON is 500") && body !== "" ? 500 : 400);
  }
  if (value === null && on.has("null is 500")) throw new Refused(500);
  if (Array.isArray(value) && on.has("an array adds its first")) {
    value = value[0];
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Refused(400);
  }
  const members = value as Readonly<Record<string, unknown>>;
  const known = ["name", "categoryId", "status"];
  const has = (name: string): boolean => Object.hasOwn(members, name);
  const isUnknown = Object.keys(members).some((name) => !known.includes(name));
  if (isUnknown && on.has("unknown members are 400")) throw new Refused(400);
  for (const name of known) {
    if (!has(name)) {
      if (name === "status") continue;
      if (on.has(`a missing ${name} is accepted`)) continue;
      throw new Refused(400);
    }
    const member = members[name];
    if (on.has(`${name} may be ${spelled(member)}`)) continue;
    if (!isValid(name, member, on)) throw new Refused(400);
  }
  const { name, categoryId, status } = members;
  return { name, categoryId, status };
}

function isValid(
  member: string,
  value: unknown,
  on: ReadonlySet<Switch>,
): boolean {
  if (member === "categoryId") {
    if (typeof value !== "bigint") return false;
    if (value < 1n && on.has("categories below 1 are 400")) return false;
    const bits = on.has("categories beyond 32 bits are 400") ? 32 : 64;
    return value === BigInt.asIntN(bits, value);
  }
  if (typeof value !== "string") return false;
  if (member === "status") return /^(?:available|pending|sold)$/.test(value);
  if (on.has("long names are 400") && value.length > 40) return false;
  if (on.has("blank names are 400") && value.trim() !== value) return false;
  if (on.has("names with spaces are 400") && /\s/.test(value)) return false;
  // deno-lint-ignore no-control-regex -- the range of ASCII
  const isAscii = /^[\u0000-\u007f]*$/.test(value);
  return isAscii || !on.has("names that are not ASCII are 400");
}

/** The pet, as a store with mistakes keeps it. */
function stored(
  { name, categoryId, status }: Omit<Pet, "id">,
  on: ReadonlySet<Switch>,
): Omit<Pet, "id"> {
  const left = on.has("a status that is left out is pending")
    ? "pending"
    : on.has("a status that is left out stays away")
    ? undefined
    : "available";
  const kept = on.has("the status is ignored") ? "available" : status ?? left;
  return {
    name: typeof name === "string" ? keptName(name, on) : name,
    categoryId: typeof categoryId === "bigint"
      ? keptCategory(categoryId, on)
      : categoryId,
    ...(kept === undefined ? {} : { status: kept }),
  };
}

function keptName(name: string, on: ReadonlySet<Switch>): string {
  if (on.has("names are trimmed")) name = name.trim();
  if (on.has("names are trimmed at their end")) name = name.trimEnd();
  if (on.has("names are escaped")) name = name.replaceAll("&", "&amp;");
  if (on.has("names are NFC")) name = name.normalize("NFC");
  if (on.has("names are NFD")) name = name.normalize("NFD");
  if (on.has("names are NFKC")) name = name.normalize("NFKC");
  for (const length of [32, 50, 100, 255]) {
    if (on.has(`names are cut at ${length}`)) name = name.slice(0, length);
  }
  if (on.has("names are cut at 300 bytes")) {
    const bytes = new TextEncoder().encode(name).slice(0, 300);
    name = new TextDecoder().decode(bytes);
  }
  if (on.has("names are numbers if they can be") && Number(name) > 0) {
    name = `${Number(name)}`;
  }
  if (on.has("names are lower-cased")) name = name.toLowerCase();
  if (on.has("names have single spaces")) name = name.replaceAll(/ +/g, " ");
  if (on.has("names lose backslashes")) name = name.replaceAll("\\", "");
  // deno-lint-ignore no-control-regex -- the range of ASCII
  const beyond = /[^\u0000-\u007f]/gu;
  if (on.has("names lose what is not ASCII")) {
    name = name.replaceAll(beyond, "?");
  }
  if (on.has("names lose control characters")) {
    name = name.replaceAll(/\p{Cc}/gu, "");
  }
  if (on.has("names double percent signs")) name = name.replaceAll("%", "%%");
  if (on.has("surrogates are replaced")) {
    name = name.replaceAll(/[\ud800-\udfff]/g, "\ufffd");
  }
  return name;
}

function keptCategory(id: bigint, on: ReadonlySet<Switch>): unknown {
  if (on.has("categories are doubles")) return BigInt(Number(id));
  if (on.has("categories wrap at 32 bits")) return BigInt.asIntN(32, id);
  if (on.has("categories end at 2^53") && id > 2n ** 53n) return 2n ** 53n;
  if (on.has("categories are positive") && id < 0n) return -id;
  if (on.has("categories are 1")) return 1n;
  return id;
}

/** The pet, as a store with mistakes shows it. */
function shown(pet: Pet, on: ReadonlySet<Switch>): Record<string, unknown> {
  const more = on.has("pets have more members")
    ? {
      _links: { self: `/pets/${pet.id}` },
      tags: [],
      weight: 1.5,
      owner: null,
    }
    : {};
  const result: Record<string, unknown> = { ...more, ...pet };
  if (on.has("ids are strings")) result.id = `${pet.id}`;
  if (on.has("categories are strings") && pet.categoryId !== 1n) {
    result.categoryId = `${pet.categoryId}`;
  }
  return result;
}

function ordered(
  pets: readonly Pet[],
  on: ReadonlySet<Switch>,
): readonly Pet[] {
  if (on.has("the newest comes first")) return pets.toReversed();
  const by = on.has("pets come by name")
    ? (pet: Pet) => `${pet.name}`
    : on.has("pets come in a mixed order")
    ? (pet: Pet) => `${BigInt.asUintN(16, pet.id * 40503n)} ${pet.id}`
    : undefined;
  if (by === undefined) return pets;
  return pets.toSorted((a, b) => by(a) < by(b) ? -1 : 1);
}

function readLimit(query: URLSearchParams, on: ReadonlySet<Switch>): number {
  const [text, status] = [query.get("limit"), query.get("status")];
  const refused = on.has("an invalid query is 422") ? 422 : 400;
  const isStrict = on.has("an invalid query is 400") || refused === 422;
  const isStatus = /^(?:available|pending|sold)$/.test(status ?? "sold");
  if (isStrict && !isStatus) throw new Refused(refused);
  const withStatus = (name: string): boolean =>
    on.has(name) || status !== null && on.has(`${name} with a status`);
  if (withStatus("limit is ignored")) return 100;
  if (status === null && on.has("limit is ignored without a status")) {
    return 100;
  }
  if (text === null) {
    if (on.has("the default is 10")) return 10;
    if (on.has("the default is 100")) return 100;
    return withStatus("the default is ignored") ? 100 : 20;
  }
  const limit = Number(text);
  const isValid = Number.isInteger(limit) && limit >= 1 && limit <= 100;
  if (text === "100" && on.has("100 is refused")) throw new Refused(400);
  if (text === "1" && on.has("1 is refused")) throw new Refused(400);
  if (withStatus("limit has no end") && limit > 100) return limit;
  if (!isValid && isStrict) throw new Refused(refused);
  if (on.has("limit is one more")) return limit + 1;
  if (on.has("limit is one less")) return limit - 1;
  if (withStatus("limit ends at 50")) return Math.min(limit, 50);
  if (on.has("limit ends at 99")) return Math.min(limit, 99);
  return isValid ? limit : limit > 100 ? 100 : 20;
}

function refusal(status: number, on: ReadonlySet<Switch>): Response {
  const told = status === 401 && on.has("401 is 403")
    ? 403
    : status === 404 && on.has("404 is 400")
    ? 400
    : status === 400 && on.has("400 is 422")
    ? 422
    : status;
  const is = (what: string): boolean => on.has(`${status} ${what}`);
  if (is("is text")) return new Response("No", { status: told });
  if (is("is 204")) return new Response(null, { status: 204 });
  const answer = json(
    {
      ...(is("has no code") ? {} : { code: "NOPE" }),
      ...(is("has no message") ? {} : { message: "It is refused" }),
      status: is("has a status in quotes")
        ? `${told}`
        : is("has another status")
        ? 400
        : told,
      ...(on.has("errors have more members") ? { details: [{ a: 1 }] } : {}),
    },
    told,
    on,
  );
  if (is("is problem+json")) {
    answer.headers.set("content-type", "application/problem+json");
  }
  return answer;
}

function json(
  value: unknown,
  status: number,
  on: ReadonlySet<Switch>,
): Response {
  const isIndented = on.has("JSON is indented, with a charset");
  const headers = {
    "content-type": isIndented
      ? "application/json; charset=utf-8"
      : "application/json",
  };
  const isDecimal = on.has("integers end in .0");
  const text = stringify(value, isDecimal ? ".0" : "");
  return new Response(isIndented ? `\n ${text}\n` : text, { status, headers });
}

/** JSON with exact integers, which may have an ending. */
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

/** The JSON of a member that was read, as the switches name it. */
function spelled(value: unknown): string {
  return value === Infinity ? "1e400" : stringify(value);
}

function accepting(
  member: string,
  kind: string,
  values: readonly string[],
): Record<string, string> {
  return Object.fromEntries(
    values.map((
      value,
    ) => [`${member} may be ${value}`, `createPet refuses ${kind}`]),
  );
}
