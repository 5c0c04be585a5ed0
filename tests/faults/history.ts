/** Histories: operations on pet stores with the times at which they began and ended. */

/** When an operation ran, in ms of one clock, and which server it was sent to. */
export interface Times {
  readonly start: number;
  readonly end: number;
  readonly server: string;
  /** The server follows the primary, so its answers may be old. */
  readonly isReplica?: boolean;
}

/** A pet in an answer. */
export interface Seen {
  readonly id: number;
  /** The JSON text of a `NewPet` that no other create sends. */
  readonly body: string;
}

/** One attempt to create a pet. */
export interface Create extends Times {
  readonly kind: "create";
  readonly body: string;
  /** The `Idempotency-Key`, if it had one. */
  readonly key?: string;
  /**
   * 201, 201 with `Idempotency-Replayed`, 503 with `Retry-After`, 422, and `unknown` for everything that
   * leaves the outcome open: 503 without `Retry-After`, and no answer.
   */
  readonly outcome: "added" | "replayed" | "refused" | "reused" | "unknown";
  /** The pet in a 201. */
  readonly seen?: Seen;
}

/** A pet by its id; `seen` is absent if it was not found. */
export interface Get extends Times {
  readonly kind: "get";
  readonly id: number;
  readonly seen?: Seen;
}

/** A page of a list. */
export interface Page extends Times {
  readonly kind: "page";
  readonly after: number;
  readonly limit: number;
  readonly status?: string;
  readonly pets: readonly Seen[];
  /** The answer has a link to the next page. */
  readonly hasNext: boolean;
}

/** An API key is issued, revoked, or used for a request. */
export interface KeyUse extends Times {
  readonly kind: "issue" | "revoke" | "accepted" | "unauthorized";
  readonly apiKey: string;
}

/** A standby takes over: from `start` on there may be a new primary, after `end` there is no other. */
export interface Failover extends Times {
  readonly kind: "failover";
}

/** An operation that was answered, or may have changed something. */
export type Operation = Create | Get | Page | KeyUse | Failover;

/** The pets in the answer of an operation. */
export function petsOf(operation: Operation): readonly Seen[] {
  if (operation.kind === "page") return operation.pets;
  const { seen } = operation as { readonly seen?: Seen };
  return seen === undefined ? [] : [seen];
}

/** One line for people; of a page it shows the pets nearest to `ids`. */
export function describe(
  operation: Operation,
  ids: readonly number[] = [],
): string {
  const { start, end, server, kind, isReplica, ...rest } = operation;
  const facts = Object.entries(rest).map(([name, value]) => {
    if (name !== "pets") return `${name}=${JSON.stringify(value)}`;
    const pets = petsOf(operation);
    const near = pets.filter(({ id }, index) =>
      index === 0 || index === pets.length - 1 || ids.includes(id)
    );
    return `${pets.length} pets, among them ${JSON.stringify(near)}`;
  });
  const times = `${start.toFixed(1)}..${end.toFixed(1)} ms`;
  const where = `${server}${isReplica ? " (replica)" : ""}`;
  return `${times} ${where}: ${kind} ${facts.join(" ")}`;
}
