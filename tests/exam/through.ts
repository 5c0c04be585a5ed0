/**
 * The exam of a gateway: the pet store behind it, and the client in front of it, which sends every
 * request exactly once.
 */

import { parseWithInt64 } from "../../core/json.ts";
import {
  type Fault,
  type RecordedRequest,
  type Sandbox,
  sandbox,
} from "../../adapters/sandbox/mod.ts";
import { type Received, sendOnce } from "./send_once.ts";

/** What a gateway can do wrong. `repeats_create` and `too_early` are advice. */
export type GatewayFinding =
  | "adds_two"
  | "changes_digits"
  | "changes_header"
  | "completes_cut_answer"
  | "caches"
  | "repeats_create"
  | "too_early";

/** A finding: what was shown, what is true, and what to do. */
export interface Found {
  readonly finding: GatewayFinding;
  readonly isHarm: boolean;
  readonly shown: string;
  readonly truth: string;
}

/** A trial of a gateway. */
export interface GatewayTrial {
  readonly title: string;
  readonly call: "createPet" | "listPets";
  readonly faults: readonly Fault[];
  /** Whether a create has an `Idempotency-Key`. */
  readonly isKeyed?: true;
  /** Whether the list is asked for again, after another pet was added. */
  readonly isTwice?: true;
}

/** What came of a trial. */
export interface GatewayResult {
  readonly trial: GatewayTrial;
  readonly findings: readonly Found[];
  /** What the service received, in order. */
  readonly requests: readonly RecordedRequest[];
  /** What the client received, in order. */
  readonly received: readonly Received[];
}

/** Thrown if a request did not arrive at the service. */
export class NeverReached extends Error {}

const page = "<html><h1>504 Gateway Time-out</h1></html>";
const html = { "content-type": "text/html" };
const lost = { lose: true } as const;
const lostAfterWork = { lose: true, work: true } as const;
const busy = {
  answer: { status: 503, headers: { "retry-after": "3" } },
} as const;

export const GATEWAY_TRIALS: readonly GatewayTrial[] = [
  { title: "nothing goes wrong with a list", call: "listPets", faults: [] },
  { title: "nothing goes wrong with a create", call: "createPet", faults: [] },
  {
    title: "nothing goes wrong with a create that has an Idempotency-Key",
    call: "createPet",
    faults: [],
    isKeyed: true,
  },
  {
    title: "a list is asked for again, after a pet was added",
    call: "listPets",
    faults: [],
    isTwice: true,
  },
  {
    title: "a create is lost after the work",
    call: "createPet",
    faults: [lostAfterWork],
  },
  {
    title: "a create with an Idempotency-Key is lost after the work",
    call: "createPet",
    faults: [lostAfterWork],
    isKeyed: true,
  },
  {
    title: "a create is lost before the work",
    call: "createPet",
    faults: [lost],
  },
  {
    title: "a create is answered late",
    call: "createPet",
    faults: [{ delay: 1 }], // `late`,
  },
  {
    title: "503 of a create, after the work",
    call: "createPet",
    faults: [{ answer: { status: 503 }, work: true }],
  },
  {
    title: "504 of a create, after the work",
    call: "createPet",
    faults: [
      { answer: { status: 504, headers: html, body: page }, work: true },
    ],
  },
  {
    title: "503 of a create, with Retry-After",
    call: "createPet",
    faults: [busy],
  },
  {
    title: "503 of a list, with Retry-After",
    call: "listPets",
    faults: [busy],
  },
  {
    title: "429 of a list, with Retry-After",
    call: "listPets",
    faults: [{ answer: { status: 429, headers: { "retry-after": "3" } } }],
  },
  {
    title: "the answer to a create is cut",
    call: "createPet",
    faults: [{ cut: 20 }],
  },
  { title: "a page is cut", call: "listPets", faults: [{ cut: 1000 }] },
];

/** Ids and categories that a double cannot hold. */
const FIRST = 2n ** 53n + 1n;
const CATEGORY = -(2n ** 60n) - 1n;
const PETS = Array.from({ length: 30 }, (_, i) => ({
  id: FIRST + 2n * BigInt(i),
  name: `Rex ${i}`,
  categoryId: CATEGORY - BigInt(i),
}));
/** How long the client waits for a gateway, in ms. */
const PATIENCE = { whole: 60_000, byte: 60_000 };
/** How much earlier than `Retry-After` a request may come, in ms. */
const LEEWAY = 100;

/**
 * Listens for a gateway that forwards `address`, such as `http://localhost:8080/v1`, to it, and
 * runs the trials, one after the other.
 *
 * @throws {NeverReached} if a request does not arrive.
 */
export async function examineGateway(
  address: string,
  listens: { readonly port: number; readonly hostname: string },
  { late = 4000, onResult = () => {} }: {
    /** How late an answer is in the trial of that, in ms. */
    readonly late?: number;
    readonly onResult?: (result: GatewayResult) => void;
  } = {},
): Promise<readonly GatewayResult[]> {
  const runs = GATEWAY_TRIALS.map((trial) => ({
    trial,
    faults: trial.faults.map((fault) =>
      fault.delay === undefined ? fault : { ...fault, delay: late }
    ),
    token: `test-${crypto.randomUUID()}`,
  }));
  const store = sandbox({ pets: PETS, key: runs.map(({ token }) => token) });
  const { close } = await store.serve(listens);
  const results: GatewayResult[] = [];
  try {
    for (const { trial, faults, token } of runs) {
      const result = await runTrial(
        store,
        address,
        { ...trial, faults },
        token,
      );
      results.push(result);
      onResult(result);
      // Without a key the service answers 401 to everything.
      if (result.findings.some(({ shown }) => /^authorization/.test(shown))) {
        break;
      }
    }
  } finally {
    await close();
  }
  return results;
}

async function runTrial(
  store: Sandbox,
  address: string,
  trial: GatewayTrial,
  token: string,
): Promise<GatewayResult> {
  const { call, faults, isKeyed, isTwice } = trial;
  const isCreate = call === "createPet";
  const limit = isTwice ? 100 : 20; // otherwise it has a Link
  const method = isCreate ? "POST" : "GET";
  const name = `Rex ${crypto.randomUUID()}`;
  const headers = {
    authorization: `Bearer ${token}`,
    ...isCreate && { "content-type": "application/json" },
    ...isKeyed && { "idempotency-key": crypto.randomUUID() },
  };
  const body = `{"name":"${name}","categoryId":${CATEGORY}}`;
  const url = `${address}/pets${isCreate ? "" : `?limit=${limit}`}`;
  const sent = { method, url, headers, ...isCreate && { body } };

  store.reset();
  const when = { method, path: "/v1/pets" }; // not a health check
  store.add(faults.map((fault) => ({ when, ...fault })));
  const received = [await sendOnce(sent, PATIENCE)];
  if (isTwice) {
    await store.handle("http://localhost/v1/pets", {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body,
    });
    received.push(await sendOnce(sent, PATIENCE));
  }
  const requests = store.requests.filter((request) =>
    request.method === method && /^[^?]*\/pets(?![^?])/.test(request.target)
  );
  const last = requests.at(-1);
  const answer = received.at(-1);
  if (last === undefined || answer === undefined) {
    throw new NeverReached(whyNot(received));
  }
  const findings: Found[] = [];
  const harm = (finding: GatewayFinding, shown: string, truth: string) =>
    findings.push({ finding, isHarm: true, shown, truth });
  const advice = (finding: GatewayFinding, shown: string, truth: string) =>
    findings.push({ finding, isHarm: false, shown, truth });

  for (const [field, value] of Object.entries(headers)) {
    const arrived = last.headers[field];
    if (arrived !== value && field !== "content-type") {
      harm("changes_header", `${field}: ${arrived ?? "none"}`, value);
    }
  }
  if (answer.status === last.status && answer.problem === undefined) {
    for (const field of ["location", "link", "retry-after"]) {
      const told = resolved(last.responseHeaders?.[field], url);
      const came = resolved(answer.headers[field], url);
      if (told !== came) {
        harm("changes_header", `${field}: ${came ?? "none"}`, told ?? "none");
      }
    }
  }
  const added = store.pets.filter((pet) => pet.name === name);
  if (added.length > 1) {
    harm("adds_two", `${added.length} pets ${name}`, "one create was sent");
  } else if (isCreate && requests.length > 1) {
    advice("repeats_create", `${requests.length} creates`, "one was sent");
  }
  if (added.some(({ categoryId }) => categoryId !== CATEGORY)) {
    harm("changes_digits", idsOf(added), `categoryId ${CATEGORY}`);
  }
  for (const [i, { time, responseHeaders }] of requests.entries()) {
    const seconds = Number(responseHeaders?.["retry-after"] ?? 0);
    const next = requests[i + 1]?.time ?? Infinity;
    if (next < time + 1000 * seconds - LEEWAY) {
      advice("too_early", `after ${next - time} ms`, `Retry-After: ${seconds}`);
    }
  }
  if (answer.problem === undefined && /^20[01]$/.test(`${answer.status}`)) {
    const shown = idsOf(
      [parseWithInt64(answer.text, "id", "categoryId")].flat(),
    );
    const truths = isCreate
      ? added.map((pet) => idsOf([{ ...pet, categoryId: CATEGORY }]))
      : [idsOf(store.pets.slice(0, limit))];
    const isCut = faults.some(({ cut }) => cut !== undefined);
    if (isTwice && !answer.text.includes(name)) {
      harm("caches", "the list without the new pet", "Cache-Control: no-store");
    } else if (!truths.includes(shown)) { // or one of two pets
      const finding = isCut ? "completes_cut_answer" : "changes_digits";
      harm(finding, shown, truths.join());
    }
  }
  return { trial, findings, requests, received };
}

/** References in a field, resolved, because a gateway may make them absolute. */
function resolved(field: string | undefined, url: string): string | undefined {
  if (field === undefined || /^\d+$/.test(field)) return field;
  const absolute = (reference: string) => URL.parse(reference, url)?.href;
  return field.includes("<")
    ? field.replaceAll(/<([^>]*)>/g, (_, link) => `<${absolute(link)}>`)
    : absolute(field);
}

/** What must arrive of pets, in a form that can be compared. */
function idsOf(pets: readonly unknown[]): string {
  return pets.map(Object).map(({ id, name, categoryId }) =>
    `${id} ${name} ${categoryId}`
  ).join(", ");
}

function whyNot([received]: readonly Received[]): string {
  const { status, problem } = received ?? { status: 0 };
  return problem === "refused"
    ? "nothing listens there"
    : `it answered ${status === 0 ? "nothing" : status}`;
}
