/**
 * Sends one HTTP request on a connection of its own, and tells exactly what came back: a client of
 * the exam may have any habit, so nothing here resends, follows or repairs.
 */

import { connect } from "node:net";

/** A request. */
export interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** What came of a request. */
export interface Received {
  /** 0 if no whole header came. */
  readonly status: number;
  /** By lower-case name; of a repeated field, the last. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as far as it came. */
  readonly text: string;
  /** What is missing: the connection failed before the header, or within the body, or time is up. */
  readonly problem?: "lost" | "cut" | "late";
}

/** How long a client waits, in ms. */
export interface Patience {
  /** For the whole answer. */
  readonly whole: number;
  /** For the next byte. */
  readonly byte: number;
}

/** Sends a request, and resolves when the answer is whole or there is no more to come. */
export function send(
  { method, url, headers, body = "" }: Sent,
  patience: Patience,
  signal: AbortSignal,
): Promise<Received> {
  const { hostname, port, pathname, search, host } = new URL(url);
  const bytes = new TextEncoder().encode(body);
  const head = Object.entries({
    host,
    connection: "close",
    ...headers,
    ...method === "POST" && { "content-length": `${bytes.byteLength}` },
  }).map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return new Promise((resolve) => {
    let received = new Uint8Array(0);
    const socket = connect(Number(port), hostname.replace(/^\[|\]$/g, ""));
    const timers = new Map<keyof Patience, ReturnType<typeof setTimeout>>();
    const end = (late: boolean, isClosed = false): void => {
      for (const timer of timers.values()) clearTimeout(timer);
      signal.removeEventListener("abort", abort);
      socket.destroy();
      const { isWhole, ...answer } = read(received, isClosed);
      if (isWhole) return resolve(answer);
      const problem = late ? "late" : answer.status === 0 ? "lost" : "cut";
      resolve({ ...answer, problem });
    };
    const abort = (): void => end(false);
    const wait = (name: keyof Patience): void => {
      clearTimeout(timers.get(name));
      if (patience[name] === Infinity) return;
      timers.set(name, setTimeout(end, patience[name], true));
    };
    signal.addEventListener("abort", abort);
    if (signal.aborted) return end(false);
    wait("whole");
    wait("byte");
    socket.on("connect", () => {
      socket.write(`${method} ${pathname}${search} HTTP/1.1\r\n${head}\r\n`);
      if (bytes.byteLength > 0) socket.write(bytes);
    });
    socket.on("data", (chunk: Uint8Array) => {
      const longer = new Uint8Array(received.byteLength + chunk.byteLength);
      longer.set(received);
      longer.set(chunk, received.byteLength);
      received = longer;
      wait("byte");
      if (read(received, false).isWhole) end(false);
    });
    socket.on("error", () => end(false));
    socket.on("close", () => end(false, true));
    socket.on("end", () => end(false, true));
  });
}

const latin1 = new TextDecoder("latin1");

/** Reads the bytes of an answer as far as they came; a body may end with its connection. */
function read(
  bytes: Uint8Array,
  isClosed: boolean,
): Received & { readonly isWhole: boolean } {
  const raw = latin1.decode(bytes);
  const start = raw.indexOf("\r\n\r\n") + 4;
  const [, code = "0"] = /^HTTP\/1\.\d (\d{3})/.exec(raw) ?? [];
  if (start === 3 || code === "0") {
    const none = { status: 0, headers: {}, text: "" };
    return { ...none, isWhole: false };
  }
  const status = Number(code);
  if (status < 200) return read(bytes.subarray(start), isClosed); // 100
  const headers = Object.fromEntries(
    raw.slice(0, start).split("\r\n").slice(1).map((line) => {
      const [name = "", ...value] = line.split(":");
      return [name.toLowerCase(), value.join(":").trim()];
    }),
  );
  const body = bytes.subarray(start);
  const answer = { status, headers };
  if (status === 204 || status === 304) {
    return { ...answer, text: "", isWhole: true };
  }
  if (/chunked/i.test(headers["transfer-encoding"] ?? "")) {
    const { content, isWhole } = dechunk(body);
    return { ...answer, text: decode(content), isWhole };
  }
  const length = headers["content-length"];
  const isWhole = length === undefined
    ? isClosed
    : body.byteLength >= Number(length);
  return { ...answer, text: decode(body), isWhole };
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** Joins chunks as far as they came (RFC 9112 §7.1). */
function dechunk(
  bytes: Uint8Array,
): { readonly content: Uint8Array; readonly isWhole: boolean } {
  const content: number[] = [];
  let at = 0;
  while (at < bytes.byteLength) {
    const line = latin1.decode(bytes.subarray(at, at + 32));
    const [all = "", size = ""] = /^([\da-f]+).*?\r\n/i.exec(line) ?? [];
    const length = parseInt(size, 16);
    if (all === "") break;
    if (length === 0) {
      return { content: Uint8Array.from(content), isWhole: true };
    }
    at += all.length;
    content.push(...bytes.subarray(at, at + length));
    at += length + 2;
  }
  return { content: Uint8Array.from(content), isWhole: false };
}
