/** The trials of gateways: one request each, sent once. */

import type { Trial } from "./trial.ts";

/** A trial of a gateway. */
export interface GatewayTrial extends Trial {
  readonly call: "createPet" | "listPets";
  /** A create has an `Idempotency-Key`. */
  readonly isKeyed?: true;
  /** The list is asked for again, after a pet was added. */
  readonly isAskedAgain?: true;
}

type Settings = Pick<GatewayTrial, "title" | "harms"> & Partial<GatewayTrial>;

const of =
  (call: GatewayTrial["call"]) => (settings: Settings): GatewayTrial => ({
    call,
    faults: [],
    provokedBy: "gateway",
    ...settings,
  });
const [create, list] = [of("createPet"), of("listPets")];

const html = { "content-type": "text/html" };
const busy = (status: 429 | 503) => ({
  answer: { status, headers: { "retry-after": "3" } },
});

export const GATEWAY_TRIALS: readonly GatewayTrial[] = [
  list({
    title: "a list, without a fault",
    harms: ["loses_digits", "changes_header"],
  }),
  create({
    title: "a create, without a fault",
    harms: ["loses_digits", "changes_header"],
  }),
  create({
    title: "a create with an Idempotency-Key, without a fault",
    harms: ["loses_digits", "changes_header"],
    isKeyed: true,
  }),
  list({
    title: "a list again, after a pet was added",
    harms: ["caches"],
    isAskedAgain: true,
  }),
  create({
    title: "a create is lost after the work",
    faults: [{ lose: true, work: true }],
    harms: ["adds_two"],
  }),
  create({
    title: "the connection of a create is reset after the work",
    faults: [{ lose: true, work: true, reset: true }],
    harms: ["adds_two"],
  }),
  create({
    title: "a create with an Idempotency-Key is lost after the work",
    faults: [{ lose: true, work: true }],
    harms: [],
    isKeyed: true,
  }),
  create({
    title: "a create is lost before the work",
    faults: [{ lose: true }],
    harms: [],
  }),
  create({
    title: "a create is answered after 4 s",
    faults: [{ delay: 4000 }],
    harms: ["adds_two"],
  }),
  create({
    title: "503 of a create, after the work",
    faults: [{ answer: { status: 503 }, work: true }],
    harms: ["adds_two"],
  }),
  create({
    title: "504 of a create, after the work",
    faults: [{
      answer: { status: 504, headers: html, body: "<h1>Gateway Timeout</h1>" },
      work: true,
    }],
    harms: ["adds_two"],
  }),
  create({
    title: "503 of a create, with Retry-After",
    faults: [busy(503)],
    harms: ["changes_header"],
  }),
  list({
    title: "503 of a list, with Retry-After",
    faults: [busy(503)],
    harms: ["changes_header"],
  }),
  list({
    title: "429 of a list, with Retry-After",
    faults: [busy(429)],
    harms: ["changes_header"],
  }),
  create({
    title: "a 201 is cut",
    faults: [{ cut: 20 }],
    harms: ["adds_two", "completes_cut_answer"],
  }),
  list({
    title: "a page is cut",
    faults: [{ cut: 1000 }],
    harms: ["completes_cut_answer"],
  }),
  list({
    title: "the chunks of a page end too early",
    faults: [{ cut: 1000, framing: "chunked" }],
    harms: ["completes_cut_answer"],
  }),
];
