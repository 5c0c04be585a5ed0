/** The journal: the requests that the service received, and how they were answered. */

import {
  type Answer,
  type Fields,
  type Layer,
  report,
} from "../../core/kit.ts";
import type { Fault } from "./fault.ts";

/** A request to the service. */
export interface RecordedRequest {
  /** When it arrived, in ms since 1970. */
  readonly time: number;
  /** The method, such as `POST`. */
  readonly method: string;
  /** The target as it was sent: `/v1/pets?limit=5`. */
  readonly target: string;
  /** By lower-case name. The values of a repeated field are joined by a comma. */
  readonly headers: Fields;
  /** The text that the service read; `null` if it read none, as for 401, 413 and 415. */
  readonly body: string | null;
  /** The status of the answer; `null` if there was none. */
  readonly status: number | null;
  /**
   * The header fields of the service's answer, by lower-case name, without those that the server
   * adds, such as `Content-Length`; `null` if there was none.
   */
  readonly responseHeaders: Fields | null;
  /**
   * When the last byte of the answer was sent, or the connection closed before, in ms since 1970;
   * `null` until then.
   */
  readonly answered: number | null;
  /** The id of the pet that the request added, even if no answer was sent. A replay adds none. */
  readonly added?: bigint;
  /** The fault that was applied, if any. */
  readonly fault?: Fault;
  /** The client's port, which identifies the connection; absent in process. */
  readonly port?: number;
  /**
   * Present until the status is set, before the first byte of the answer, or until the connection
   * closes.
   */
  readonly open?: true;
}

/** A request that is being recorded. */
export type Entry = {
  -readonly [Name in keyof RecordedRequest]: RecordedRequest[Name];
};

/** Something that happened to a request. */
export interface SandboxEvent {
  /**
   * `request`: its header has arrived. `bytes`: its body was read, or a piece of a dripping answer
   * is sent. `answer`: the status is known, and the first byte is sent. `end`: the last byte was
   * sent, or the connection closed.
   */
  readonly type: "request" | "bytes" | "answer" | "end";
  /** In ms since 1970. */
  readonly time: number;
  /** The request as the journal has it now. Later events have the same object, with more in it. */
  readonly request: RecordedRequest;
}

const MAX_ENTRIES = 1000;
/** Longer strings of a fault are cut in the journal, which has the fault once for each request. */
const MAX_TEXT = 1000;
/** The maximum length of all entries of a journal, in characters of JSON. */
const MAX_LENGTH = 16 * 1024 * 1024;
/** The maximum length of all journals together. */
const MAX_TOTAL = 64 * 1024 * 1024;

/** The last requests, as many as the limits allow. */
export class Journal {
  /** Entries and their lengths, oldest first. */
  #entries = new Map<Entry, number>();
  #length = 0;
  readonly #onEvent: (event: SandboxEvent) => void;
  readonly #onGrowth: () => void;

  /** `onGrowth` is called when it is longer. */
  constructor(
    onEvent: (event: SandboxEvent) => void = () => {},
    onGrowth = () => {},
  ) {
    this.#onEvent = onEvent;
    this.#onGrowth = onGrowth;
  }

  /** Begins the entry of a request that has arrived. */
  begin(
    request: Pick<Entry, "method" | "target" | "headers" | "port">,
  ): Entry {
    const entry: Entry = {
      time: Date.now(),
      ...request,
      body: null,
      status: null,
      responseHeaders: null,
      answered: null,
      open: true,
    };
    this.#entries.set(entry, 0);
    this.measure(entry);
    this.tell("request", entry);
    return entry;
  }

  /** Passes an event to the tester. */
  tell(type: SandboxEvent["type"], request: Entry): void {
    const time = type === "request" ? request.time : Date.now();
    report(() => this.#onEvent({ type, time, request }));
  }

  /** Records how a request was answered, unless that is recorded. */
  settle(
    entry: Entry,
    status: number | null,
    headers: Fields | null = null,
  ): void {
    if (entry.open === undefined) return;
    entry.status = status;
    entry.responseHeaders = headers;
    delete entry.open;
    this.measure(entry);
    if (status !== null) this.tell("answer", entry);
  }

  /** Records that the answer ended; `status` is for a request that never reached the service. */
  end(entry: Entry, status: number | null = null): void {
    if (entry.answered !== null) return;
    this.settle(entry, status);
    entry.answered = Date.now();
    this.tell("end", entry);
  }

  /**
   * Counts what was added to an entry. Drops the oldest while there are too many or they are too
   * long.
   */
  measure(entry: Entry): void {
    const counted = this.#entries.get(entry);
    if (counted === undefined) return;
    const length = entryToJson(entry).length;
    this.#entries.set(entry, length);
    this.#length += length - counted;
    while (this.#entries.size > MAX_ENTRIES || this.#length > MAX_LENGTH) {
      this.dropOldest();
    }
    this.#onGrowth();
  }

  dropOldest(): void {
    for (const [oldest, length] of this.#entries.entries().take(1)) {
      this.#entries.delete(oldest);
      this.#length -= length;
    }
  }

  get size(): number {
    return this.#entries.size;
  }

  /** In characters of JSON. */
  get length(): number {
    return this.#length;
  }

  /**
   * Copies the entries. In Jest `structuredClone` makes objects of another realm, which strict
   * comparisons refuse.
   */
  list(): readonly RecordedRequest[] {
    return [...this.#entries.keys()].map((entry) => ({
      ...JSON.parse(entryToJson(entry)),
      ...entry.added !== undefined && { added: entry.added },
    }));
  }

  /** The entries as a JSON array, with every digit of `added`. */
  toJson(): string {
    return `[${[...this.#entries.keys()].map(entryToJson).join(",")}]`;
  }

  clear(): void {
    this.#entries.clear();
    this.#length = 0;
  }
}

/** Copies a fault for an entry, with an ellipsis for the rest of a long string. */
export function shortFault(fault: Fault): Fault {
  const json = JSON.stringify(fault);
  if (json.length <= MAX_TEXT) return fault;
  return JSON.parse(
    json,
    (_, value) =>
      typeof value === "string" && value.length > MAX_TEXT
        ? `${value.slice(0, MAX_TEXT).toWellFormed()}…`
        : value,
  );
}

/** Drops the oldest entries of the longest journals while all together are too long. */
export function shorten(journals: Iterable<Journal>): void {
  const all = [...journals];
  const total = () => all.reduce((sum, { length }) => sum + length, 0);
  while (total() > MAX_TOTAL) {
    all.reduce((one, other) => one.length < other.length ? other : one)
      .dropOldest();
  }
}

function entryToJson({ added, ...entry }: Entry): string {
  const json = JSON.stringify(entry);
  return added === undefined ? json : `${json.slice(0, -1)},"added":${added}}`;
}

/** Records the body that a service reads, and the pet that it adds. */
export function recordLayer(entry: Entry, journal: Journal): Layer {
  return (service) => async (request, connection, readBody) => {
    const answer = await service(request, connection, async (...limits) => {
      const body = await readBody(...limits);
      if (!("status" in body) && body.byteLength > 0) {
        // A byte order mark is kept: a client should not send one.
        entry.body = new TextDecoder("utf-8", { ignoreBOM: true }).decode(body);
        journal.tell("bytes", entry);
      }
      return body;
    });
    const added = idAdded(answer);
    if (added !== undefined) entry.added = added;
    // A body of unknown length is read before its type is refused.
    if (answer.status === 415) entry.body = null;
    journal.measure(entry);
    return answer;
  };
}

/** Returns the id of the pet that a request added; `undefined` if it added none. */
function idAdded({ status, headers, body }: Answer): bigint | undefined {
  if (status !== 201 || headers["idempotent-replayed"]) return undefined;
  const [, id] = /^\{"id":(\d+),/.exec(String(body)) ?? [];
  return id === undefined ? undefined : BigInt(id);
}
