/** The journal: what came to the service, and what was answered. */

import type { Fields, ServiceRequest } from "../../core/http/message.ts";
import type { Fault } from "./fault.ts";

/** A request to the service. */
export interface RecordedRequest {
  readonly method: string;
  /** As it was sent: `/v1/pets?limit=5`. */
  readonly target: string;
  /** By name in lower case; the values of a name that repeats are joined by a comma. */
  readonly headers: Fields;
  /** The text that the service read; `null` if it read none, as for 401, 413 and 415. */
  readonly body: string | null;
  /** The status that was answered; `null` if none was. */
  readonly status: number | null;
  /** The fault that was applied, if one was. */
  readonly fault?: Fault;
  /** Present until the status is set, before the first byte of the answer, or the connection is closed. */
  readonly open?: true;
}

/** A request that is being recorded. */
export type Entry = {
  -readonly [Name in keyof RecordedRequest]: RecordedRequest[Name];
};

const MAX_ENTRIES = 1000;
/** The most characters of all entries together. */
const MAX_LENGTH = 16 * 1024 * 1024;

export class Journal {
  /** Entries and their lengths, the oldest first. */
  #entries = new Map<Entry, number>();
  #length = 0;

  /** Begins an entry; `fields` are names and values. */
  begin(
    method: string,
    target: string,
    fields: readonly (readonly [string, string])[],
  ): Entry {
    const headers = new Map<string, string>();
    for (const [name, value] of fields) {
      const earlier = headers.get(name.toLowerCase());
      const values = earlier === undefined ? value : `${earlier}, ${value}`;
      headers.set(name.toLowerCase(), values);
    }
    const entry: Entry = {
      method,
      target,
      headers: Object.fromEntries(headers),
      body: null,
      status: null,
      open: true,
    };
    this.#entries.set(entry, 0);
    this.measure(entry);
    return entry;
  }

  /** Counts what was added to an entry, and forgets the oldest entries if all are too many or too long. */
  measure(entry: Entry): void {
    const earlier = this.#entries.get(entry);
    if (earlier === undefined) return;
    const length = JSON.stringify(entry).length;
    this.#entries.set(entry, length);
    this.#length += length - earlier;
    for (const [oldest, length] of this.#entries) {
      if (this.#entries.size <= MAX_ENTRIES && this.#length <= MAX_LENGTH) {
        break;
      }
      this.#entries.delete(oldest);
      this.#length -= length;
    }
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Copies the entries, the oldest first. */
  list(): readonly RecordedRequest[] {
    return structuredClone([...this.#entries.keys()]);
  }

  clear(): void {
    this.#entries.clear();
    this.#length = 0;
  }
}

/** Sets the status of an entry that has none yet. */
export function settle(entry: Entry, status: number | null): void {
  if (entry.open === undefined) return;
  entry.status = status;
  delete entry.open;
}

/** A request whose body is kept as the service reads it. */
export class ReadRequest implements ServiceRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: ServiceRequest["headers"];
  readonly #request: ServiceRequest;
  #body: ReadableStream<Uint8Array<ArrayBuffer>> | undefined;
  #pieces: Uint8Array[] = [];
  #isWhole = false;

  constructor(request: ServiceRequest) {
    this.method = request.method;
    this.url = request.url;
    this.headers = request.headers;
    this.#request = request;
  }

  get bodyUsed(): boolean {
    return this.#request.bodyUsed;
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    const buffer = await this.#request.arrayBuffer();
    this.#pieces = [new Uint8Array(buffer)];
    this.#isWhole = true;
    return buffer;
  }

  get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    const { body } = this.#request;
    return body === null ? null : this.#body ??= this.#watch(body);
  }

  /** The text of the body if all of it was read. */
  async text(): Promise<string | null> {
    if (!this.#isWhole) return null;
    return await new Blob(this.#pieces as BlobPart[]).text();
  }

  /** Not a TransformStream, which would read a piece that nobody asked for. */
  #watch(
    body: ReadableStream<Uint8Array<ArrayBuffer>>,
  ): ReadableStream<Uint8Array<ArrayBuffer>> {
    let reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
    return new ReadableStream({
      pull: async (controller) => {
        reader ??= body.getReader();
        const { done, value } = await reader.read();
        if (done) {
          this.#isWhole = true;
          return controller.close();
        }
        this.#pieces.push(value.slice());
        controller.enqueue(value);
      },
      cancel: (reason) => (reader ?? body).cancel(reason),
    }, { highWaterMark: 0 });
  }
}
