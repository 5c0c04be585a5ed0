/**
 * Clients that the exam must tell apart: right ones that differ, and wrong ones by the harm that
 * each does. As a program it is the client that its argument names.
 */

import process from "node:process";
import {
  type Attempt,
  Failed,
  type Failure,
  type Habits,
  isSuccess,
  parseExactly,
  parseRounded,
  perform,
  petJson,
  retryAfter,
  type Shown,
  type Told,
} from "./exam_client.ts";
import type { Received } from "../../exam/send_once.ts";

export type Clients = Readonly<Record<string, Habits>>;

const SECOND = 1000;

/** Answers after which the same request may succeed, if it may be sent again at all. */
function isTransient({ received }: Attempt): boolean {
  const { problem, status } = received;
  return problem !== undefined || /^(?:408|429|50[0234])$/.test(`${status}`);
}

/** Nothing was done, as the contract says. */
function isRefused({ status, headers, problem }: Received): boolean {
  return problem === undefined &&
    (/^(?:400|401|413|415|422|429)$/.test(`${status}`) ||
      status === 503 && headers["retry-after"] !== undefined);
}

/** Sends a request again up to so many times, if that is safe with an Idempotency-Key. */
const upTo = (most: number): Habits => ({
  again: (attempt) => attempt.count < most && isTransient(attempt),
});

/** Sends again what can do no harm without a key. */
const withoutKey: Habits = {
  idempotencyKey: () => undefined,
  again: ({ sent, received, count }) =>
    count < 4 &&
    (sent.method === "GET"
      ? isTransient({ sent, received, count })
      : isRefused(received) && received.status > 428),
};

const silent: Told = { exit: 1, stdout: "" };
const saying = (added: boolean | null): Told => ({
  exit: 1,
  stdout: `${JSON.stringify({ added })}\n`,
});

/** Says what it knows of a create that has failed. */
function honest({ call, attempts }: Failure): Told {
  if (call.name !== "createPet") return silent;
  if (attempts.some(({ received }) => received.status === 201)) {
    return saying(true);
  }
  const isSure = attempts.every(({ received }) => isRefused(received));
  return saying(isSure ? false : null);
}

const STATUSES = ["available", "pending", "sold"];

/** Tells whether a pet has no member that is unknown. */
function isPlain(pet: unknown): boolean {
  return Object.keys(Object(pet)).every((name) =>
    /^(?:id|name|categoryId|status)$/.test(name)
  );
}

/** Prints pets by their own words. */
const printing = (
  show: (pet: Shown) => string,
  start = "",
): Habits => ({
  prints(pets, isOne) {
    const all = pets.map(show).join(", ");
    return `${start}${isOne ? all : `[ ${all} ]`}`;
  },
});

/** Looks for a pet by its name, through all pages; `undefined` if that fails or it is not there. */
async function findByName(
  { call, ask }: Failure,
): Promise<Shown | undefined> {
  let url = `${call.url}/pets?limit=100`;
  for (let count = 0; count < 100; count++) {
    const { status, headers, text, problem } = await ask("GET", url);
    if (status !== 200 || problem !== undefined) return undefined;
    const pets = parseExactly(text) as readonly Shown[];
    const found = pets.find(({ name }) => name === call.petName);
    const [, link] = /<([^>]*)>; rel="next"/.exec(headers.link ?? "") ?? [];
    if (found !== undefined || link === undefined) return found;
    url = new URL(link, url).href;
  }
  return undefined;
}

/** Clients without a harm, by what sets them apart. */
export const RIGHT: Clients = {
  "gives up": {},
  "gives up, and says what it knows": { fails: honest },
  "says that it is not sure": {
    fails: ({ call }) => call.name === "createPet" ? saying(null) : silent,
  },
  "prints its error to standard output, and fails": {
    fails: () => ({ exit: 3, stdout: "Error: it failed\n" }),
  },
  "prints the pages that it has, and fails": {
    fails: ({ pets }) => ({
      exit: 1,
      stdout: `[${pets.map(petJson).join()}]\n`,
    }),
  },
  "retries three times": upTo(4),
  "retries to the end": upTo(20),
  "retries to the end, and says what it knows": { ...upTo(15), fails: honest },
  "waits 8 s between attempts": { ...upTo(3), pause: () => 8 * SECOND },
  "waits at once": { ...upTo(4), pause: () => 0 },
  "waits longer each time": {
    ...upTo(5),
    pause: (attempt) => Math.max(retryAfter(attempt), 50 * 2 ** attempt.count),
  },
  "sends no Idempotency-Key": withoutKey,
  "sends its key as a structured field": {
    ...upTo(3),
    idempotencyKey: (_call, _count, drawn) => `"${drawn}"`,
  },
  "starts in 10 s": { ...upTo(3), starts: 10 * SECOND },
  "refreshes a token once after 401": {
    again: ({ received, count }) => received.status === 401 && count === 1,
  },
  "resends GETs as Go does": {
    again: ({ sent, received, count }) =>
      sent.method === "GET" && received.problem === "lost" && count < 3,
    pause: () => 0,
  },
  "waits for 10 s": {
    ...upTo(2),
    patience: () => ({ whole: 10 * SECOND, byte: 10 * SECOND }),
  },
  "waits for each byte": {
    ...upTo(2),
    patience: ({ timeout }) => ({ whole: 60 * SECOND, byte: 2 * timeout }),
  },
  "is impatient": {
    ...upTo(4),
    patience: ({ timeout }) => ({ whole: timeout / 2, byte: timeout / 2 }),
  },
  "shows ids as strings": printing((pet) =>
    petJson(pet).replaceAll(/(?<="(?:id|categoryId)":)-?\d+/g, '"$&"')
  ),
  "shows integers with a fraction": {
    ...upTo(3),
    ...printing((pet) =>
      petJson(pet).replaceAll(/(?<="(?:id|categoryId)":)-?\d+/g, "$&.0")
    ),
  },
  "shows integers with an exponent": printing((pet) =>
    petJson(pet).replaceAll(/(?<="(?:id|categoryId)":)-?\d+/g, "$&e0")
  ),
  "shows more members in another order": {
    ...upTo(2),
    ...printing(({ id, name, categoryId, ...more }) =>
      `{"links":{"self":"/pets/${id}"},"categoryId":${categoryId},"name":${
        JSON.stringify(name)
      },\n"tags":[{"id":7}],"id":${id},"weight":1.5${
        more.status === undefined
          ? ""
          : `,"status":${JSON.stringify(more.status)}`
      }}`
    ),
  },
  "shows no status": printing(({ status: _, ...pet }) => petJson(pet)),
  "prints a byte order mark": { ...upTo(2), ...printing(petJson, "\ufeff") },
  "prints a line for each page": {
    ...upTo(3),
    prints: (pets, isOne, pages) =>
      isOne
        ? pets.map(petJson).join()
        : pages.map((page) => `[${page.map(petJson).join()}]\n`).join(""),
  },
  "prints the last pet first": {
    prints: (pets, isOne) => {
      const all = pets.toReversed().map(petJson).join();
      return isOne ? all : `[${all}]`;
    },
  },
  "prints nothing for no pets": {
    prints: (pets, isOne) => {
      const all = pets.map(petJson).join();
      return isOne || all === "" ? all : `[${all}]`;
    },
  },
  "has pages of its own size": { ...upTo(3), pageSize: () => "7" },
  "has the default size of pages": { ...upTo(3), pageSize: () => undefined },
  "refuses an unknown status": {
    ...upTo(3),
    takes(pet) {
      if (STATUSES.includes(pet.status ?? "sold")) return pet;
      throw new Failed("an unknown status");
    },
  },
  "refuses an unknown member": {
    ...upTo(3),
    parse(text) {
      const value = parseExactly(text);
      if ([value].flat().every(isPlain)) return value;
      throw new Failed("an unknown member");
    },
  },
  "shows an unknown status as its own word": {
    takes: (pet) =>
      STATUSES.includes(pet.status ?? "sold")
        ? pet
        : { ...pet, status: "UNKNOWN_DEFAULT" },
  },
  "stops at an empty page": { stops: (pets) => pets.length === 0 },
  "asks the list for one pet": { ...upTo(3), findsInList: true },
  "follows redirects as browsers do": {
    follows: (_status, isSameHost) => isSameHost ? "with key" : "without",
  },
  "follows redirects on its host": {
    ...upTo(3),
    follows: (_status, isSameHost) => isSameHost ? "with key" : "no",
  },
  "looks for the pet when in doubt": {
    idempotencyKey: () => undefined,
    async fails(failure) {
      if (failure.call.name !== "createPet") return silent;
      const found = await findByName(failure);
      return found === undefined ? silent : { exit: 0, stdout: petJson(found) };
    },
  },
  "always names a status": {
    ...upTo(3),
    body: ({ petName, category, status = "available" }) =>
      `{"status":"${status}","categoryId":${category},"name":"${petName}"}`,
  },
  "asks for JSON alone": {
    ...upTo(2),
    fields: { accept: "application/json", "user-agent": "seeded/1.0" },
  },
  "takes any type for JSON": {
    ...upTo(3),
    accepts: ({ status, problem }) =>
      problem === undefined && status >= 200 && status < 300,
  },
};

/** Right clients that need much time. */
export const SLOW: readonly string[] = [
  "retries to the end",
  "retries to the end, and says what it knows",
  "waits 8 s between attempts",
  "starts in 10 s",
];

/** Whether to send a request again after anything that is no success. */
const stubborn: Habits = { again: ({ count }) => count < 3, pause: () => 50 };

/** Pets that can be read in the rest of a text. */
function remains(text: string): readonly Shown[] {
  const all = text.match(/\{[^{}]*\}/g) ?? [];
  return all.flatMap((one) => {
    try {
      return [parseExactly(one) as Shown];
    } catch {
      return [];
    }
  }).filter(({ id, categoryId }) =>
    [id, categoryId].every((n) => typeof n === "bigint")
  );
}

/** What the call was about, with a likely id. */
function likely({ call, attempts, pets }: Failure): readonly Shown[] {
  const { petName: name, category: categoryId, status } = call;
  const pet = { name, categoryId, ...status && { status } };
  if (call.name === "createPet") return [{ id: 151n, ...pet }];
  if (call.name === "getPet") {
    return [{ id: BigInt(call.id), name: "Rex", categoryId: 1n }];
  }
  const partial = attempts.at(-1)?.received.text ?? "";
  const all = [...pets, ...remains(partial)];
  const { id } = all.at(-1) ?? { id: 150n };
  return [...all, { id: id + 1n, name: "Rex", categoryId: 1n }];
}

/** Prints pets with 0, as if nothing had happened. */
function calmly(
  { call }: Failure,
  pets: readonly Shown[],
): Told {
  const all = pets.map(petJson).join();
  const isOne = call.name === "createPet" || call.name === "getPet";
  return { exit: 0, stdout: isOne ? all : `[${all}]` };
}

/** Takes what comes first in a list, and is another pet, for that of the call. */
async function newest(failure: Failure): Promise<readonly Shown[]> {
  const { call, ask } = failure;
  for (let count = 0; count < 3; count++) {
    const { text } = await ask("GET", `${call.url}/pets?limit=100`);
    const pets = remains(text);
    const pet = call.name === "createPet"
      ? pets.at(-1)
      : pets.find(({ id }) => `${id}` !== call.id);
    if (pet !== undefined) return [pet];
  }
  return [{ id: 1n, name: "Rex", categoryId: 1n }];
}

/** Clients by the harm that they do. In a run without a fault each is right. */
export const WRONG: Readonly<Record<string, Clients>> = {
  adds_two: {
    "sends a create again without a key": {
      ...stubborn,
      accepts: (received) =>
        isSuccess(received) && /[\]}]$/.test(received.text),
      idempotencyKey: () => undefined,
    },
    "has a new key for each attempt": {
      ...stubborn,
      idempotencyKey: () => crypto.randomUUID(),
    },
    "sends a create again without a key, and tells nothing": {
      ...stubborn,
      idempotencyKey: () => undefined,
      accepts: (received, method) =>
        method === "POST" ? received.status === 201 : isSuccess(received),
    },
  },
  false_success: {
    "prints a likely pet without an answer": {
      fails: (failure) => calmly(failure, likely(failure)),
    },
    "makes its key of the body": {
      idempotencyKey: ({ petName, category }) =>
        `${petName} ${category}`.replaceAll(" ", "-"),
    },
    "says that a pet was added": { fails: () => saying(true) },
  },
  false_failure: {
    "says that no pet was added": { fails: () => saying(false) },
    "says that no pet was added, after it tried again": {
      ...stubborn,
      fails: () => saying(false),
    },
  },
  wrong_pet: {
    "prints the pet that comes first": {
      async fails(failure) {
        const { call, pets } = failure;
        const isOne = call.name === "createPet" || call.name === "getPet";
        return calmly(
          failure,
          isOne ? await newest(failure) : likely({ ...failure, pets }),
        );
      },
    },
    "prints pets twice after trouble": {
      ...stubborn,
      recovers: (pets) => [...pets, ...pets],
    },
    "keeps 32 bits of a category": {
      takes: (pet) => ({
        ...pet,
        categoryId: BigInt.asIntN(32, pet.categoryId),
      }),
    },
    "keeps 32 bits of an id": {
      takes: (pet) => ({ ...pet, id: BigInt.asIntN(32, pet.id) }),
    },
  },
  loses_digits: {
    "rounds numbers": { ...upTo(3), parse: parseRounded },
    "asks for a rounded id": { asksFor: (id) => `${BigInt(Number(id))}` },
    "rounds numbers, and asks for a rounded id": {
      parse: parseRounded,
      asksFor: (id) => `${BigInt(Number(id))}`,
    },
    "rounds categories that it sends": {
      body: ({ pet }) =>
        pet.replace(
          /(?<="categoryId":\s*)-?\d+/,
          (digits) => `${BigInt(Number(digits))}`,
        ),
    },
  },
  partial_list: {
    "prints the pets that it has": {
      fails: (failure) => calmly(failure, failure.pets),
    },
    "drops pets with an unknown member": {
      parse(text) {
        const value = parseExactly(text);
        return Array.isArray(value) ? value.filter(isPlain) : value;
      },
    },
    "prints what it can read of half a page": {
      fails: (failure) =>
        calmly(failure, [
          ...failure.pets,
          ...remains(failure.attempts.at(-1)?.received.text ?? ""),
        ]),
    },
    "drops pets with an unknown status": {
      takes: (pet) => STATUSES.includes(pet.status ?? "sold") ? pet : undefined,
    },
  },
  error_as_data: {
    "prints whatever is answered": {
      fails: ({ attempts }) => ({
        exit: 0,
        stdout: attempts.at(-1)?.received.text || "null",
      }),
    },
    "prints its error with 0": {
      fails: () => ({ exit: 0, stdout: '{"error":"it failed"}\n' }),
    },
    "prints null with 0": { fails: () => ({ exit: 0, stdout: "null\n" }) },
  },
  leaks_key: {
    "follows every redirect with its key": { follows: () => "with key" },
  },
  hangs: {
    "waits for ever": {
      patience: () => ({ whole: Infinity, byte: Infinity }),
    },
  },
};

/** Clients that are wrong without a fault. */
export const BROKEN: Clients = {
  "prints a banner": printing(petJson, "> my-client@1.0.0 start\n\n"),
  "prints no JSON": printing(() => "a pet"),
  "prints nothing": { prints: () => "" },
  "shows no ids": printing((pet) => petJson(pet).replace(/"id":\d+,/, "")),
  "shows another id": printing((pet) => petJson({ ...pet, id: pet.id + 1n })),
  "shows another category": printing((pet) =>
    petJson({ ...pet, categoryId: 0n })
  ),
  "shows another status": printing((pet) =>
    petJson({ ...pet, status: "sold" })
  ),
  "shows pets twice": printing((pet) => `${petJson(pet)},${petJson(pet)}`),
  "stops at the first page": { stops: () => true },
  "always fails": { accepts: () => false },
  "sends creates twice": {
    again: ({ count }) => count < 2,
    accepts: ({ status }, method) => method === "GET" || status === 200,
    fails: ({ attempts }) => ({
      exit: 0,
      stdout: attempts.at(-1)?.received.text ?? "",
    }),
    idempotencyKey: () => undefined,
  },
  "sends no key": { fields: { authorization: "none" } },
};

/** The habits of a client by its name. */
export function habitsOf(name: string): Habits {
  const wrong = Object.values(WRONG).map((clients) => clients[name]);
  const found = [RIGHT[name], ...wrong].find((habits) => habits !== undefined);
  if (found === undefined) throw new RangeError(`No client ${name}`);
  return found;
}

if (import.meta.main) {
  const { exit, stdout } = await perform(
    process.env,
    habitsOf(process.argv[2] ?? "gives up"),
  );
  process.exitCode = exit;
  process.stdout.write(stdout);
}
