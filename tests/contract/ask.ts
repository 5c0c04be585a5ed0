/** Sends single requests with a key to a service. */

/** The members of a pet that the interface names, exact to the last digit. */
export interface Pet {
  readonly id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  readonly status?: string;
}

/** A service that a test can use. */
export interface OpenService {
  /** Sends a request to it. The judge adds a time limit and does not follow redirects. */
  fetch(request: Request, init?: RequestInit): Promise<Response>;
  /** Sends a request on a connection of its own; absent if there are no connections. */
  readonly fetchAlone?: (
    request: Request,
    init?: RequestInit,
  ) => Promise<Response>;
  /** Its base address, `http://127.0.0.1:1234/v1`. */
  readonly base: string;
  /** A key that it accepts. */
  readonly key: string;
  /**
   * The id of a pet after which `after` seems to find the pets of the tests; absent if the service
   * was empty or has no `after`.
   */
  readonly mark?: bigint;
  /** The seed of the values that clauses generate. Default: random. */
  readonly seed?: number;
  /** The pets added so far, if they are counted. */
  readonly added?: readonly Pet[];
  /** True if getPet is expected to be gone: pets are then found by the list. */
  readonly isAfterRemoval?: boolean;
  /** A category that pets may belong to. Default: 1. */
  readonly categoryId?: bigint;
  /** The runtime, because each treats hostile bytes differently; absent if unknown. */
  readonly runtime?: "deno" | "bun" | "node";
  /** Called with each request, as text, and each answer. */
  readonly seen?: (message: string | Answer) => void;
  /** Closes it. */
  close(): Promise<void>;
}

/** The body and header fields of a request; the key is added unless `authorization` is given. */
export interface Question {
  readonly body?: string | Uint8Array | ReadableStream<Uint8Array>;
  /** What reports show of a body that is a stream. Default: `(in pieces)`. */
  readonly shown?: string;
  /** Values by name; `undefined` omits a field. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/** A response, read to its end. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Keeps a byte order mark, which JSON must not begin with (RFC 8259 §8.1). */
const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });

/** Shows bytes that are not UTF-8 as `\xff`. */
function toText(bytes: Uint8Array = new Uint8Array()): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
      .decode(bytes);
  } catch {
    return Array.from(
      bytes,
      (byte) =>
        byte < 0x80 ? String.fromCharCode(byte) : `\\x${byte.toString(16)}`,
    ).join("");
  }
}

/** Sends one request: `address` is below the base (`/pets`), or absolute. */
export async function ask(
  service: Pick<OpenService, "fetch" | "base" | "seen"> & {
    readonly key: string | undefined;
  },
  method: string,
  address: string,
  { body, headers = {}, shown = "(in pieces)" }: Question = {},
): Promise<Answer> {
  const sent = new Headers();
  const all = {
    authorization: service.key && `Bearer ${service.key}`,
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...headers,
  };
  for (const [name, value] of Object.entries(all)) {
    if (value !== undefined) sent.set(name, value);
  }
  const url = address.startsWith("http") ? address : service.base + address;
  // Text is sent as bytes, because a string body adds its own Content-Type.
  const content = typeof body === "string"
    ? new TextEncoder().encode(body)
    : body;
  const fields = [...sent].map(([name, value]) => `${name}: ${value}\n`);
  const asSent = content instanceof ReadableStream ? shown : toText(content);
  service.seen?.(`${method} ${url}\n${fields.join("")}\n${asSent}`);
  const sentBody = content !== undefined && { body: content as BodyInit };
  const init = { method, headers: sent, duplex: "half", ...sentBody };
  const response = await service.fetch(new Request(url, init));
  const { status, headers: received } = response;
  const text = DECODER.decode(await response.arrayBuffer());
  const answer = { status, headers: received, text };
  service.seen?.(answer);
  return answer;
}

/**
 * The address in `Link` with this relation (RFC 8288), resolved as a client does; or `undefined`.
 */
export function linked(
  answer: Answer,
  { rel, from }: { readonly rel: string; readonly from: string },
): string | undefined {
  const link = answer.headers.get("link") ?? "";
  const [, reference, relation] = /^<([^<>]*)>; rel="([^"]*)"$/.exec(link) ??
    [];
  if (reference === undefined || relation !== rel) return undefined;
  return new URL(reference, from).href;
}
