/** A pet store that follows the interface, in steps whose values mistakes and choices change. */

import { setTimeout as pause } from "node:timers/promises";
import { isInt64 } from "../../../core/int64.ts";
import { parseJson } from "../../laws/any_body.ts";
import type { OpenService } from "../../contract/ask.ts";

export const KEY = "Se-Kret7";
export const STATUSES: readonly string[] = ["available", "pending", "sold"];

export interface Pet {
  readonly id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  readonly status?: string | undefined;
}

/** A request, and what is known of its answer so far. */
export interface At {
  readonly operation: "list" | "create" | "get";
  readonly petId: string;
  readonly address: URL;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  /** The field `Authorization`. */
  readonly key: string;
  readonly body: string;
  readonly pieces: readonly Uint8Array<ArrayBuffer>[];
  /** The pet in the body; without a name if it is none. */
  sent: Partial<Omit<Pet, "id">> & { readonly id?: unknown };
  /** All pets, in the order in which they were added. */
  readonly pets: Pet[];
  /** All pets, in the order of the listing, and where the page starts. */
  ordered: readonly Pet[];
  start: number;
  limit: number;
}

/** An answer before it is written; `body` may be any value. */
export interface Told {
  readonly status: number;
  readonly body: unknown;
  readonly type?: string;
  readonly link?: string | undefined;
}

/** The value of each step, in the order in which they are made. */
interface Values {
  /** The number of pets at the start. */
  readonly size: number;
  /** The body of a create, as it is read. */
  readonly body: string;
  readonly isKnown: boolean;
  /** The status of a refusal, or 0. */
  readonly refused: number;
  readonly id: bigint;
  /** A pet that is added. */
  readonly kept: Pet;
  /** Its place in all pets, and the pauses before and after it is put there, in ms. */
  readonly place: number;
  readonly pauses: readonly [before: number, after: number];
  /** The pet that a create, or getPet, answers with. */
  readonly created: Pet;
  readonly found: Pet | null;
  /** All pets, as they are listed; those of the filter; and a page of them. */
  readonly ordered: readonly Pet[];
  readonly filtered: readonly Pet[];
  readonly limit: number;
  readonly page: readonly Pet[];
  /** The place of the next page, and the link to it. */
  readonly next: number;
  readonly link: string;
  readonly isLinked: boolean;
  /** A pet in any answer. */
  readonly shown: Pet;
  readonly told: Told;
  /** The body of an answer, as it is written. */
  readonly text: string;
}

/** A mistake or a choice: the steps that differ. Each gets what is right, and what is changed already. */
export type Change = {
  readonly [K in keyof Values]?: (value: Values[K], at: At) => Values[K];
};

/** Makes a store with these changes, of which the last comes last in each step. */
export function storeWith(changes: readonly Change[]): OpenService {
  const pets: Pet[] = [];

  function change<K extends keyof Values>(
    step: K,
    value: Values[K],
    at: At,
  ): Values[K] {
    return changes.reduce(
      (value, one) => one[step]?.(value, at) ?? value,
      value,
    );
  }

  async function create(at: At): Promise<Pet> {
    const { name = "", categoryId = 1n, status = "available" } = at.sent;
    const id = change("id", BigInt(pets.length + 1), at);
    const pet = change("kept", { id, name, categoryId, status }, at);
    const [before, after] = change("pauses", [0, 0], at);
    if (before > 0) await pause(before);
    const place = change("place", pets.length, at);
    pets[place] = { ...pet, id: pets[place]?.id ?? pet.id };
    if (after > 0) await pause(after);
    return change("created", pets[place] ?? pet, at);
  }

  function list(at: At): Told {
    const { query, address } = at;
    const [status, sent] = [query.get("status"), Number(query.get("limit"))];
    at.ordered = change("ordered", pets, at);
    const has = (pet: Pet) => status === null || pet.status === status;
    const filtered = change("filtered", at.ordered.filter(has), at);
    at.limit = change("limit", sent >= 1 ? Math.min(sent, 100) : 20, at);
    at.start = Number(
      query.get("page") ?? query.getAll("cursor").at(-1)?.slice(1) ?? 0,
    );
    const page = filtered.slice(at.start, at.start + at.limit);
    const body = change("page", page, at).map((pet) =>
      change("shown", pet, at)
    );
    const next = change("next", at.start + at.limit, at);
    const link = change("link", linkTo(address, next), at);
    const isLinked = change("isLinked", next < filtered.length, at);
    return { status: 200, body, link: isLinked ? link : undefined };
  }

  async function answer(at: At): Promise<Told> {
    const isRight = /^bearer /i.test(at.key) && at.key.slice(7) === KEY;
    const isKnown = change("isKnown", isRight, at);
    const isWrong = at.operation === "create" && at.sent.name === undefined;
    const status = !isKnown ? 401 : isWrong ? 400 : 0;
    const refused = change("refused", status, at);
    if (refused > 0) return refusal(refused);
    if (at.operation === "list") return list(at);
    if (at.operation === "create") {
      return { status: 201, body: change("shown", await create(at), at) };
    }
    const pet = pets.find(({ id }) => `${id}` === at.petId) ?? null;
    const found = change("found", pet, at);
    if (found === null || found === NOBODY) return refusal(404);
    return { status: 200, body: change("shown", found, at) };
  }

  async function fetch(request: Request): Promise<Response> {
    const { headers, url, method } = request;
    const address = new URL(url);
    const pieces: Uint8Array<ArrayBuffer>[] = [];
    for await (const piece of request.body ?? []) pieces.push(piece);
    const [, petId = ""] = /^\/v1\/pets\/([^/]+)$/.exec(address.pathname) ?? [];
    const at: At = {
      operation: petId !== "" ? "get" : method === "POST" ? "create" : "list",
      petId,
      address,
      query: address.searchParams,
      headers,
      key: headers.get("authorization") ?? "",
      body: await new Blob(pieces).text(),
      pieces,
      sent: {},
      pets,
      ordered: pets,
      start: 0,
      limit: 0,
    };
    for (let i = pets.length; i < change("size", 0, at); i++) {
      const name = `Old${String.fromCharCode(97 + i % 26)}`;
      const id = change("id", BigInt(i + 1), at);
      pets.push({ id, name, categoryId: 5n, status: STATUSES[i % 3] });
    }
    at.sent = parsePet(change("body", at.body, at));
    const told = change("told", await answer(at), at);
    const { status, body, type = "application/json", link } = told;
    if (status === 204) return new Response(null, { status });
    const text = change(
      "text",
      typeof body === "string" ? body : stringify(body),
      at,
    );
    const fields = { "content-type": type, ...link && { link } };
    return new Response(text, { status, headers: fields });
  }

  const close = () => Promise.resolve();
  // With the same values each time, the same mistakes are hidden.
  return { fetch, base: "http://localhost/v1", key: KEY, close, seed: 7 };
}

/** In place of a pet that is found: none. */
export const NOBODY: Pet = { id: 0n, name: "", categoryId: 0n };

/** An Error body. */
export function refusal(status: number): Told {
  return {
    status,
    body: { code: "REFUSED", message: "It is refused", status },
  };
}

/** A link to the page that starts after so many pets. */
export function linkTo(address: URL, start: number): string {
  const next = new URL(address);
  next.searchParams.set("page", `${start}`);
  return `<${next.href}>; rel="prefetch next"`;
}

function parsePet(body: string): At["sent"] {
  let value: unknown;
  try {
    value = parseJson(body);
  } catch {
    return {}; // it is no JSON
  }
  const { name, categoryId, status = "sold" } = Object(value);
  const isPet = typeof name === "string" && isInt64(categoryId) &&
    STATUSES.includes(status);
  return isPet ? value as At["sent"] : {};
}

/** Writes JSON with exact integers. */
function stringify(value: unknown): string {
  // TypeScript has no type for this yet.
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
  return JSON.stringify(
    value,
    (_name, one) => typeof one === "bigint" ? rawJSON(`${one}`) : one,
  );
}
