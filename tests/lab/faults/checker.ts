/**
 * Checks a history: could all its answers come from one pet store that keeps its promises?
 *
 * Ids become visible in ascending order, so what a store shows at any moment is what has an id up
 * to some greatest one, which only grows. Every create, get and page bounds it in real time, and
 * two bounds can only contradict each other in pairs: so a sort finds them all, in O(n log n). A
 * failover begins a new epoch: unacknowledged pets may be gone, and their ids may be reused.
 */

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
   * 201, 201 with `Idempotent-Replayed`, 503 with `Retry-After`, 422, and `unknown` for everything that
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

/**
 * A standby takes over: from `start` on there may be a new primary, after `end` there is no other.
 */
export interface Failover extends Times {
  readonly kind: "failover";
}

/** An operation that was answered, or may have changed something. */
export type Operation = Create | Get | Page | KeyUse | Failover;

/** The pets in the answer of an operation. */
function petsOf(operation: Operation): readonly Seen[] {
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

/** A promise that was broken, and the one or two operations that show it. */
export interface Contradiction {
  readonly promise: string;
  readonly operations: readonly Operation[];
}

/** A revoked key may still be accepted elsewhere for so many ms. */
const REVOCATION_DELAY = 1000;

/** A pet, and the first operation that showed it. */
interface Shown {
  readonly seen: Seen;
  readonly by: Operation;
}

/** The pets that were seen between two failovers. */
interface Epoch {
  readonly byId: Map<number, Shown>;
  readonly byBody: Map<string, Shown>;
}

/** The greatest visible id is `id` or more when `by` ends, or less than `id` when it starts. */
interface Bound {
  readonly time: number;
  readonly id: number;
  readonly by: Operation;
}

/** Finds contradictions; none if the history keeps all promises. */
export function* contradictions(
  history: readonly Operation[],
): Generator<Contradiction> {
  const creates = history.filter((each) => each.kind === "create")
    .toSorted((a, b) => a.start - b.start);
  const attempts = Map.groupBy(creates, ({ body }) => body);
  const failovers = history.filter((each) => each.kind === "failover");
  yield* checkIdempotency(creates);
  yield* checkApiKeys(history);
  for (const operation of history) {
    yield* checkAnswer(operation, attempts);
  }
  yield* checkEpochs(history, attempts, failovers);
}

/** A history that contradicts itself. */
export class Inconsistent extends Error {}

/**
 * Throws {@linkcode Inconsistent}, which shows a contradiction and the shortest history that has
 * it.
 */
export function assertConsistent(
  history: readonly Operation[],
  note: string,
): void {
  const [found] = contradictions(history).take(1);
  if (found === undefined) return;
  const ids = found.operations.flatMap((each) => petsOf(each))
    .map(({ id }) => id);
  const show = (each: Operation) => `  ${describe(each, ids)}`;
  throw new Inconsistent([
    `${found.promise} (${note})`,
    "These contradict each other:",
    ...found.operations.map(show),
    "The shortest history with this contradiction:",
    ...shortest(history, found).map(show),
  ].join("\n"));
}

/** The shortest part of a history in which the same operations contradict each other. */
export function shortest(
  history: readonly Operation[],
  { promise, operations }: Contradiction,
): readonly Operation[] {
  const isFound = (part: readonly Operation[]): boolean =>
    contradictions(part).some((found) =>
      found.promise === promise &&
      found.operations.every((each, index) => each === operations[index])
    );
  let part = [...history];
  for (let size = part.length; size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < part.length;) {
      const less = part.toSpliced(at, size);
      if (isFound(less)) part = less;
      else at += size;
    }
  }
  return part;
}

/** Checks all attempts with an idempotency key together. */
function* checkIdempotency(
  creates: readonly Create[],
): Generator<Contradiction> {
  const keyed = creates.filter(({ key }) => key !== undefined);
  for (const attempts of Map.groupBy(keyed, ({ key }) => key).values()) {
    const answered = attempts.filter(({ seen }) => seen !== undefined);
    const [first, ...others] = answered;
    for (const other of others) {
      if (first?.seen?.id === other.seen?.id) continue;
      yield contradiction("A key gives one pet", first, other);
    }
    const [adding, ...more] = answered.filter(({ outcome }) =>
      outcome === "added"
    );
    for (const other of more) {
      yield contradiction("A pet is added once for a key", adding, other);
    }
    for (const reused of attempts) {
      if (reused.outcome !== "reused") continue;
      const user = attempts.find((each) =>
        each.body !== reused.body && each.start < reused.end && mayAdd(each)
      );
      if (user === undefined) {
        yield contradiction("422 needs another body before it", reused);
      }
    }
    const isExplained = attempts.some(({ outcome }) =>
      outcome === "added" || outcome === "unknown"
    );
    if (first !== undefined && !isExplained) {
      yield contradiction("A replay repeats an answer", first);
    }
  }
}

function* checkApiKeys(
  history: readonly Operation[],
): Generator<Contradiction> {
  const uses = history.filter((each) => "apiKey" in each);
  for (const of of Map.groupBy(uses, ({ apiKey }) => apiKey).values()) {
    const issued = of.find(({ kind }) => kind === "issue");
    const revoked = of.find(({ kind }) => kind === "revoke");
    for (const use of of) {
      const isLate = revoked !== undefined &&
        use.start > revoked.end + REVOCATION_DELAY;
      if (use.kind === "accepted" && isLate) {
        const promise = "A revoked key is refused within a second";
        yield contradiction(promise, revoked, use);
      }
      const isValid = issued !== undefined && issued.end < use.start &&
        !(revoked !== undefined && revoked.start <= use.end);
      if (use.kind === "unauthorized" && isValid) {
        yield contradiction("An issued key is accepted", issued, use);
      }
    }
  }
}

/** Checks an answer alone, and with the creates of its pets. */
function* checkAnswer(
  operation: Operation,
  attempts: ReadonlyMap<string, readonly Create[]>,
): Generator<Contradiction> {
  if (operation.kind === "page" && !isWellFormed(operation)) {
    const promise =
      "A page is in order, with all that was asked for and no more";
    yield contradiction(promise, operation);
  }
  const { kind } = operation;
  if (kind === "get" && (operation.seen ?? operation).id !== operation.id) {
    yield contradiction("A pet has the id that was asked for", operation);
  }
  if (
    kind === "create" && (operation.seen ?? operation).body !== operation.body
  ) {
    yield contradiction("A 201 has the pet that was sent", operation);
  }
  for (const { body } of petsOf(operation)) {
    const senders = attempts.get(body) ?? [];
    if (senders.length === 0) {
      yield contradiction("A pet is one that was sent", operation);
    } else if (!senders.some(mayAdd)) {
      const promise = "A create that was refused changes nothing";
      yield contradiction(promise, senders[0], operation);
    }
  }
}

/** Checks which pets were visible when, between failovers and across them. */
function* checkEpochs(
  history: readonly Operation[],
  attempts: ReadonlyMap<string, readonly Create[]>,
  failovers: readonly Failover[],
): Generator<Contradiction> {
  const placed = history.map((by) => ({ by, span: epochsOf(by, failovers) }));
  const byLast = Map.groupBy(placed, ({ span: [, last] }) => last);
  /** Acknowledged up to this epoch: never lost. */
  const kept: Epoch = { byId: new Map(), byBody: new Map() };
  const keptBounds: Bound[] = [];
  const epochs: Epoch[] = [];
  for (let last = 0; last <= failovers.length; last++) {
    const inEpoch = byLast.get(last) ?? [];
    const epoch: Epoch = { byId: new Map(), byBody: new Map() };
    epochs.push(epoch);
    for (const { by } of inEpoch) {
      if (by.kind !== "create") continue;
      yield* show(by, kept, epoch);
      for (const { id } of petsOf(by)) {
        keptBounds.push({ time: by.end, id, by });
      }
    }
    const sure = inEpoch.filter(({ by, span: [first] }) =>
      first === last && !by.isReplica
    );
    for (const { by } of sure) yield* show(by, epoch, kept);

    const all = sortedByStatus([kept, epoch]);
    // A read during a failover must show what was acknowledged; what else, nobody knows.
    const told = sortedByStatus([kept]);
    const least = keptBounds.concat(
      sure.flatMap(({ by }) =>
        petsOf(by).map(({ id }) => ({ time: by.end, id, by }))
      ),
    );
    const below: Bound[] = [];
    for (const { by, span: [first] } of inEpoch) {
      if (by.isReplica) continue;
      const isSure = first === last;
      const visible = isSure ? all : told;
      if (by.kind === "get" && by.seen === undefined) {
        const list = visible.get("") ?? [];
        const found = list[indexAfter(list, by.id - 1)];
        if (found?.seen.id !== by.id) continue;
        below.push({ time: by.start, id: by.id, by });
      }
      if (by.kind !== "page") continue;
      const { missing, next } = checkPage(by, visible, isSure);
      if (missing !== undefined) {
        const promise = "A page shows all pets up to its last one";
        yield contradiction(promise, missing.by, by);
      }
      if (by.hasNext || next === undefined) continue;
      below.push({ time: by.start, id: next.seen.id, by });
    }
    for (const { seen } of all.get("") ?? []) {
      const by = attempts.get(seen.body)?.find(mayAdd);
      if (by !== undefined) below.push({ time: by.start, id: seen.id, by });
    }
    yield* checkBounds(least, below);
  }
  for (const { by, span } of placed) {
    if (by.isReplica || span[0] < span[1]) {
      yield* checkElsewhere(by, span, epochs, kept);
    }
  }
}

/** Adds what an operation shows, unless it is known; an id has one pet, and a pet one id. */
function* show(
  by: Operation,
  to: Epoch,
  beside: Epoch,
): Generator<Contradiction> {
  for (const seen of petsOf(by)) {
    const same = to.byId.get(seen.id) ?? beside.byId.get(seen.id);
    if (same !== undefined && same.seen.body !== seen.body) {
      yield contradiction("An id is given once", same.by, by);
    }
    const other = to.byBody.get(seen.body) ?? beside.byBody.get(seen.body);
    if (other !== undefined && other.seen.id !== seen.id) {
      yield contradiction("A create adds one pet", other.by, by);
    }
    if (same !== undefined && to.byId.has(seen.id)) continue;
    to.byId.set(seen.id, { seen, by });
    to.byBody.set(seen.body, { seen, by });
  }
}

/** Compares a page with what must be visible: `missing` on it, and the `next` one behind it. */
function checkPage(
  page: Page,
  visible: ReadonlyMap<string, readonly Shown[]>,
  isSure: boolean,
): { readonly missing: Shown | undefined; readonly next: Shown | undefined } {
  const list = visible.get(page.status ?? "") ?? [];
  const ids = new Set(page.pets.map(({ id }) => id));
  const end = indexAfter(list, page.pets.at(-1)?.id ?? page.after);
  const missing = list.slice(indexAfter(list, page.after), end)
    .find(({ seen, by }) =>
      !ids.has(seen.id) && (isSure || by.end < page.start)
    );
  return { missing, next: list[end] };
}

/** Compares each upper bound with the greatest lower bound before it. */
function* checkBounds(
  least: readonly Bound[],
  below: readonly Bound[],
): Generator<Contradiction> {
  const byTime = (a: Bound, b: Bound): number => a.time - b.time;
  const rising = least.toSorted(byTime);
  let greatest: Bound | undefined;
  let at = 0;
  for (const bound of below.toSorted(byTime)) {
    for (; at < rising.length; at++) {
      const next = rising[at];
      if (next === undefined || next.time >= bound.time) break;
      if (next.id > (greatest?.id ?? 0)) greatest = next;
    }
    if (greatest === undefined || greatest.id < bound.id) continue;
    const promise = bound.by.kind === "create"
      ? "Ids ascend in the order of creates"
      : "What is visible is in every read that begins later";
    yield contradiction(promise, greatest.by, bound.by);
  }
}

/** A replica, or a read during a failover, shows what some primary had. */
function* checkElsewhere(
  operation: Operation,
  [first, last]: readonly [number, number],
  epochs: readonly Epoch[],
  kept: Epoch,
): Generator<Contradiction> {
  for (const { id, body } of petsOf(operation)) {
    const told = kept.byId.get(id);
    const known = epochs.slice(first, last + 1).map(({ byId }) =>
      byId.get(id) ??
        (told !== undefined && told.by.end < operation.start ? told : undefined)
    );
    if (known.some((each) => each === undefined || each.seen.body === body)) {
      continue;
    }
    yield contradiction(
      "No server shows what never was",
      known[0]?.by,
      operation,
    );
  }
}

/** The epochs in which an operation may have been carried out: from one to another. */
function epochsOf(
  { start, end, isReplica }: Operation,
  failovers: readonly Failover[],
): readonly [first: number, last: number] {
  const past = failovers.filter((failover) => failover.end < start);
  const begun = failovers.filter((failover) => failover.start <= end);
  return [isReplica ? 0 : past.length, begun.length];
}

/** Pets in the order of ids: all of them under `""`, and those of each status. */
function sortedByStatus(
  epochs: readonly Epoch[],
): ReadonlyMap<string, readonly Shown[]> {
  const byId = new Map(epochs.flatMap(({ byId }) => [...byId]));
  const all = [...byId.values()].sort((a, b) => a.seen.id - b.seen.id);
  return Map.groupBy(all, ({ seen }) => statusOf(seen.body)).set("", all);
}

/** The index of the first pet whose id is greater. */
function indexAfter(list: readonly Shown[], id: number): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((list[middle]?.seen.id ?? 0) <= id) low = middle + 1;
    else high = middle;
  }
  return low;
}

function isWellFormed({ pets, after, limit, status, hasNext }: Page): boolean {
  return pets.every(({ id, body }, index) =>
    id > (pets[index - 1]?.id ?? after) &&
    (status === undefined || statusOf(body) === status)
  ) && pets.length <= limit && (!hasNext || pets.length === limit);
}

function statusOf(body: string): string {
  return /"status":"(\w+)"/.exec(body)?.[1] ?? "available";
}

/** Tells if this attempt may have added the pet. */
function mayAdd({ outcome }: Create): boolean {
  return outcome === "added" || outcome === "unknown";
}

function contradiction(
  promise: string,
  ...operations: readonly (Operation | undefined)[]
): Contradiction {
  return {
    promise,
    operations: operations.filter((each) => each !== undefined),
  };
}
