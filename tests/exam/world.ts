/** The store of a trial: a sandbox of its own, with drawn ids and names. */

import { randomInt } from "node:crypto";
import { lookup } from "node:dns/promises";
import {
  type Fault,
  type RecordedRequest,
  sandbox,
  type SandboxEvent,
  type SeedPet,
} from "../../adapters/sandbox/mod.ts";
import type { ShownPet } from "./claim.ts";
import type { Trial } from "./trial.ts";

/** The time limit of a client that the delays of the trials are meant for, in ms. */
export const CLIENT_TIMEOUT = 1000;

/** A store, and the address at which it listens. */
export interface World {
  readonly url: string;
  readonly key: string;
  /** The pets that it began with, ascending by id. */
  readonly seed: readonly ShownPet[];
  /** The pets that were added, as the client sent them. */
  readonly added: () => readonly ShownPet[];
  readonly requests: () => readonly RecordedRequest[];
  close(): Promise<void>;
}

/** Thrown for a trial that this machine does not allow. */
export class Skipped extends Error {}

/** Opens the store of a trial. Delays grow with the client's time limit, in ms. */
export async function openWorld(
  trial: Trial,
  clientTimeout: number,
  onEvent: (event: SandboxEvent) => void,
): Promise<World> {
  const pets = drawPets(trial);
  const key = `test-${randomInt(2 ** 47).toString(36)}`;
  const last = pets.at(-1)?.id ?? 0n;
  const store = sandbox({
    pets,
    key,
    onEvent,
    ...trial.isAfterRemoval && { getPet: false },
    // Odd, which beyond 2^53 a double cannot be. Below 100,000 no two ids are near.
    ...trial.call === "createPet" &&
      { nextId: (last + BigInt(randomInt(1, 9_000))) | 1n },
  });
  store.add(trial.faults.map((fault) => scaled(fault, clientTimeout)));
  const servers = [await store.serve()];
  const { url } = servers[0] as { readonly url: string };
  const close = async (): Promise<void> => {
    await Promise.all(servers.map(({ close }) => close()));
  };
  if (JSON.stringify(trial.faults).includes("{other}")) {
    const port = Number(new URL(url).port);
    const others = (await lookup("localhost", { all: true }))
      .filter(({ address }) => address !== "127.0.0.1");
    try {
      for (const { address: hostname } of others) {
        servers.push(await store.serve({ port, hostname }));
      }
    } catch {
      await close();
      throw new Skipped(
        `localhost is also ${
          others.map(({ address }) => address)
        }, where port ${port} cannot be used`,
      );
    }
  }
  const seed = store.pets;
  return {
    ...{ url, key, seed, close },
    added: () => store.pets.slice(seed.length),
    requests: () => store.requests,
  };
}

function scaled({ delay, ...fault }: Fault, clientTimeout: number): Fault {
  if (delay === undefined) return fault;
  return {
    ...fault,
    delay: Math.round(delay * clientTimeout / CLIENT_TIMEOUT),
  };
}

/** Draws pets whose names nobody else has. */
function drawPets({ pets = {} }: Trial): SeedPet[] {
  const { count = 130, step = "1", categoryId } = pets;
  const first = BigInt(pets.first ?? randomInt(1_000, 60_000));
  return Array.from({ length: count }, (_, i) => ({
    id: first + BigInt(step) * BigInt(i),
    name: `${drawName()} ${i}`,
    categoryId: BigInt(categoryId ?? randomInt(1, 100)),
    status: (["available", "pending", "sold"] as const)[i % 3] ?? "sold",
  }));
}

const FIRST = "Amber Basil Clove Dusty Ember Fable Ginger Hazel Indigo Juno"
  .split(" ");
const LAST = "Ash Brook Cloud Dale Elm Frost Grove Heath Isle Jade".split(" ");

/** Draws a name of ASCII letters, digits and spaces. */
export function drawName(): string {
  const pick = (words: readonly string[]) => words[randomInt(words.length)];
  return `${pick(FIRST)} ${pick(LAST)} ${randomInt(10_000, 100_000)}`;
}
