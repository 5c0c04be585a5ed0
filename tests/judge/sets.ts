/**
 * The sets of clauses that a store is judged by. A set never changes once it is released, so that a
 * report names what it means: a clause that is added later belongs to a set with another version.
 */

import { HOSTILE_BYTES_CLAUSES } from "../contract/hostile_bytes_contract.ts";
import { HTTP_CLAUSES } from "../contract/http_contract.ts";
import { IDEMPOTENCY_CLAUSES } from "../contract/http_idempotency_contract.ts";
import { INTERFACE_CLAUSES } from "../contract/interface_contract.ts";
import type { Clauses } from "../contract/pets_client.ts";
import { RAW_HTTP_CLAUSES } from "../contract/raw_http_contract.ts";
import { REMOVAL_CLAUSES } from "../contract/removal_contract.ts";

/** Clauses that are judged together. */
export interface ClauseSet {
  /** Its name and version: `interface 1.0`. */
  readonly name: string;
  /**
   * Who makes its promises: the interface, this project's decisions where the interface is silent,
   * or whoever added clauses to a copy of this project.
   */
  readonly source: "interface" | "decision" | "own";
  readonly clauses: Clauses;
}

const INTERFACE_1_0 = [
  "no key is 401 with an Error body, whatever the operation",
  "no key or a wrong one is 401, whatever else is wrong with the request",
  "a wrong key is 401 with an Error body, whatever the operation",
  "a key in another case is 401",
  "a key without the scheme Bearer is 401",
  "a key in the query or the body is not accepted",
  "createPet answers 201 with the animal and a new id",
  "createPet gives each of several animals added at once its own id and answer",
  "createPet assigns the id itself, whatever the body says",
  "getPet returns the animal with this id, and no other",
  "getPet answers 404 if no animal has the id",
  "a categoryId is any int64, exact to the last digit in, stored and out",
  "createPet keeps a name as it is sent, or refuses it",
  "createPet refuses a name that is not a string",
  "createPet refuses a categoryId with a fraction",
  "createPet refuses a categoryId beyond int64",
  "createPet refuses a categoryId that is not a number",
  "createPet refuses a status that is none of the three",
  "createPet refuses a status that is not a string",
  "a body that is missing, is not a JSON object, or lacks a field is 400",
  "listPets returns an empty array if no animal has the status",
  "listPets returns an array of animals",
  "listPets filters by each status",
  "listPets applies limit after the filter by status",
  "createPet reads a name however JSON spells it",
  "createPet reads JSON with whitespace, members in any order, and a charset",
  "createPet reads a body in pieces, wherever it is cut",
  "no create is answered with 5xx, except 503 with Retry-After",
  "every error has an Error body, even for an odd query or id",
  "listPets returns 20 animals if no limit is sent",
  "listPets accepts a limit from 1 to 100",
  "the pages of listPets lead to every animal",
  "listPets returns at most 100 animals",
  "createPet keeps any letters and any int64 exactly, or refuses them",
  "an animal stays as it was added, with an id of its own",
];

const DECISIONS_1_0 = [
  "a path that is not described is 404 for any method, with or without a key",
  "paths are exact and case-sensitive",
  "a 401 has a challenge, with the code invalid_token if a bearer key was sent",
  "listPets refuses a wrong limit, status or after, and says what it may be",
  "one 400 names each parameter that is wrong or repeated",
  "getPet answers 404 if the id is not a positive int64 in canonical form",
  "createPet answers 201 with the address of the animal",
  "an animal whose status is left out is available",
  "unknown body members are ignored and not kept",
  "a name has 1 to 255 code points and is kept exactly",
  "a categoryId is an integer however JSON spells it",
  "a status is one of three, in lower case",
  "one 400 names each member that is wrong, and no other",
  "createPet accepts JSON in UTF-8 alone, however Content-Type spells it",
  "createPet accepts only a body without a Content-Encoding",
  "a missing body is 400, whatever its media type or coding",
  "if members have the same name, the last one counts",
  "createPet refuses what is not JSON, even if lenient parsers accept it",
  "createPet refuses bytes that are not UTF-8",
  "createPet accepts a body of 64 KiB, whole or in pieces, and not a byte more",
  "a body may be nested as deeply as its size allows",
  "a malformed Idempotency-Key is 400, and the message names the header",
  "createPet checks the key, Idempotency-Key, media type, size, then content",
  "a path with encoded letters, digits, - . _ or ~ is the same path",
  "no other encoded byte is decoded, and none twice: the path is 404",
  "another method on a known path is 405 with Allow, OPTIONS 204, key or none",
  "pages of other origins learn nothing: no response has a CORS header field",
  "HEAD answers as GET does, without the body",
  "unknown query parameters are ignored",
  "nobody without a key learns whether an animal exists",
  "listPets returns animals ascending by id, in order of creation; ids are positive",
  "listPets returns the animals whose ids are above after",
  "listPets links the next page exactly when more animals match",
  "the next page keeps limit and status and drops what was ignored",
  "a wrong key is not in the answer",
  "the scheme name is case-insensitive",
  "a JSON response forbids sniffing and caching; an error is code, message, status",
  "every response of getPet says that it is deprecated",
  "a create sent again with its Idempotency-Key adds no second pet",
  "an equal pet is the same request, however it is written",
  "another pet with the same Idempotency-Key is 422",
  "a create that is refused uses no Idempotency-Key up",
  "a malformed Host is 400, before the path, the method and the key",
  "an empty or repeated Host is 400",
  "HTTP/1.0 without a Host is answered",
  "an odd target is refused, and is neither a 5xx nor taken for another path",
  "dot segments are not resolved, however they are spelled",
  "TRACE, PROPFIND and PUT are 405 with Allow",
  "a repeated Idempotency-Key is 400",
  "a request with two Authorization fields is refused",
  "a key with bytes other than visible ASCII is 401",
  "a missing body is 400, and chunks that turn out empty are checked like others",
  "an HTTP/1.0 request with Transfer-Encoding is answered, and its connection ends",
  "a body that stops arriving is 408",
  "a body above the limit is 413 before all of it is sent, with or without Expect",
  "what follows a body that is not read is never answered as a request of its own",
  "what is not HTTP is refused, and the next client is served",
  "a create with a length and chunks is never two requests",
  "a create with two lengths is never two requests",
  "a create with a length twice is never two requests",
  "a create with a length in hex is never two requests",
  "a create with a length of 20 digits is never two requests",
  "a create with a space before a colon is never two requests",
  "a create with an unknown coding is never two requests",
  "a create with chunks of another coding is never two requests",
  "a create with chunks in chunks is never two requests",
  "a create with chunks after a tab, in mixed case is one request",
  "a create with a folded field is never two requests",
  "a create with a line that ends in LF is never two requests",
  "a create with a NUL within a field is never two requests",
  "a create with a chunk with extensions is one request",
  "a create with a space after a size is never two requests",
  "a create with a chunk of 16 EiB is never two requests",
  "a create with a size beyond 64 bits is never two requests",
  "a create with a chunk longer than its size is never two requests",
  "a create with chunks whose lines end in LF is never two requests",
  "a create with no last chunk is never two requests",
  "a create with a trailer that claims a length is never two requests",
  "a create with 80 fields is one request",
  "a create with 5,000 fields is never two requests",
  "a create with a field of 1 MB is never two requests",
  "an offer of HTTP/2 by Upgrade is ignored; Deno refuses one with a body",
  "a client that ends its side is answered, or cut off",
  "clients that go away before the answer harm nobody",
];

const ALL: Clauses = {
  ...INTERFACE_CLAUSES,
  ...HTTP_CLAUSES,
  ...IDEMPOTENCY_CLAUSES,
  ...RAW_HTTP_CLAUSES,
  ...HOSTILE_BYTES_CLAUSES,
};

/** The set of the interface. */
export const INTERFACE: ClauseSet = {
  name: "interface 1.0",
  source: "interface",
  clauses: pick(INTERFACE_1_0),
};

/** The set of the decisions where the interface is silent. */
export const DECISIONS: ClauseSet = {
  name: "decisions 1.0",
  source: "decision",
  clauses: pick(DECISIONS_1_0),
};

/** The set of the time when getPet is gone, beside the others. */
export const REMOVAL: ClauseSet = {
  name: "removal 1.0",
  source: "decision",
  clauses: REMOVAL_CLAUSES,
};

/** Clauses that a copy of this project added: those in no other set. */
export const OWN: ClauseSet = {
  name: "own",
  source: "own",
  clauses: ownOf(ALL),
};

/** The sentences of all clauses. */
export const SENTENCES: ReadonlySet<string> = new Set(
  Object.keys({ ...ALL, ...REMOVAL_CLAUSES }),
);

/** Names a set and says how many clauses it has: `interface 1.0, 35 clauses`. */
export function describeSet({ name, clauses }: ClauseSet): string {
  const { length } = Object.keys(clauses);
  return `${name}, ${length} clause${length === 1 ? "" : "s"}`;
}

/** Tells whether a clause writes bytes to a connection, which it cannot do with TLS. */
export function needsPlainTcp(sentence: string): boolean {
  return sentence in RAW_HTTP_CLAUSES || sentence in HOSTILE_BYTES_CLAUSES;
}

/** Returns the clauses that are in no frozen set. */
export function ownOf(clauses: Clauses): Clauses {
  const isFrozen = (sentence: string) =>
    sentence in INTERFACE.clauses || sentence in DECISIONS.clauses;
  return Object.fromEntries(
    Object.entries(clauses).filter(([sentence]) => !isFrozen(sentence)),
  );
}

/** @throws {Error} if a sentence has no clause: it was renamed, or removed. */
function pick(sentences: readonly string[]): Clauses {
  return Object.fromEntries(sentences.map((sentence) => {
    const clause = ALL[sentence];
    if (clause === undefined) {
      throw new Error(`A frozen set has a clause that is gone: ${sentence}`);
    }
    return [sentence, clause];
  }));
}
