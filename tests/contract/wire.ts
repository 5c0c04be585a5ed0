/** HTTP/1.1 byte by byte: a TCP connection, and the answers read from it. */

import { connect, type Socket } from "node:net";

/** An answer as received. */
export interface Answer {
  readonly status: number;
  /** The lines of the header: a name in lower case, one space, a value (`vary: Origin`). */
  readonly lines: readonly string[];
  readonly body: string;
}

/**
 * Returns the bytes of a request, one per character. `line` has no version, a field is
 * `Name: value`, and a body adds its `Content-Length`. The host is `a`, unless a field names
 * another.
 *
 * `rawRequest("GET /livez")` is `GET /livez HTTP/1.1\r\nHost: a\r\n\r\n`.
 */
export function rawRequest(
  line: string,
  fields: readonly string[] = [],
  body?: string,
): string {
  const host = fields.some((field) => /^host:/i.test(field)) ? [] : ["Host: a"];
  const length = body === undefined ? [] : [`Content-Length: ${body.length}`];
  const lines = [`${line} HTTP/1.1`, ...host, ...fields, ...length];
  return `${lines.join("\r\n")}\r\n\r\n${body ?? ""}`;
}

/** The time limit of whatever must happen, in ms. */
const PATIENCE = 20_000;

/** A TCP connection to a server. */
export class Wire {
  readonly #socket: Socket;
  #received = "";
  #all = "";
  #isClosed = false;
  #wake = (): void => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(); // each text is a packet of its own
    socket.setEncoding("latin1");
    socket.on("data", (text: string) => {
      this.#received += text;
      this.#all += text;
      this.#wake();
    });
    const onClose = (): void => {
      this.#isClosed = true;
      this.#wake();
    };
    // Tests treat a reset as a kind of close.
    socket.on("end", onClose).on("error", onClose).on("close", onClose);
  }

  /** Connects to a server on this machine; `text`, if any, is sent at once. */
  static open(port: number, text = ""): Promise<Wire> {
    return Wire.to(`http://127.0.0.1:${port}`, text);
  }

  /** Connects to the server of an `http:` address. */
  static async to(address: string, text = ""): Promise<Wire> {
    const { hostname, port } = new URL(address);
    const host = hostname.replaceAll(/[[\]]/g, ""); // of IPv6
    const socket = connect(Number(port || 80), host);
    const wire = new Wire(socket);
    await new Promise((resolve, reject) => {
      socket.once("connect", resolve).once("error", reject);
    });
    wire.write(text);
    return wire;
  }

  /** Sends text, one byte per character. */
  write(text: string): void {
    if (text !== "") this.#socket.write(text, "latin1");
  }

  /** Stops reading, so that data from the server piles up. */
  pause(): void {
    this.#socket.pause();
  }

  /** Continues reading. */
  resume(): void {
    this.#socket.resume();
  }

  /** True once the server has closed its side, or reset the connection. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Everything received, whether taken or not. */
  get received(): string {
    return this.#all;
  }

  /** Ends the sending side. */
  end(): void {
    this.#socket.end();
  }

  /** Closes the connection at once. */
  close(): void {
    this.#socket.destroy();
  }

  /** Takes the next answer. `method` is that of its request: an answer to HEAD has no body. */
  async answer(method = "GET"): Promise<Answer> {
    const head = await this.#take((text) => end(text, "\r\n\r\n"));
    const [statusLine = "", ...lines] = head.trimEnd().split("\r\n")
      .map((line) =>
        line.replace(/^([^:]+):[ \t]*/, (_, name) => `${name.toLowerCase()}: `)
      );
    const status = Number(statusLine.split(" ")[1]);
    return { status, lines, body: await this.#body(method, status, lines) };
  }

  /** Returns everything that arrives until the server closes. */
  async rest(): Promise<string> {
    return await this.#take((text) => this.#isClosed ? text.length : -1);
  }

  /**
   * Returns everything received once it is enough, the server has closed, it was silent for `quiet`
   * ms, or it has sent for ten times as long.
   */
  async until(
    isEnough: (text: string) => boolean,
    quiet: number,
  ): Promise<string> {
    const deadline = performance.now() + 10 * quiet;
    for (let size = -1; size < this.#all.length && !this.#isClosed;) {
      size = this.#all.length;
      if (isEnough(this.#all) || performance.now() >= deadline) break;
      await this.#news(quiet);
    }
    return this.#all;
  }

  /** Resolves when data arrives or the server closes, and at the latest after `patience` ms. */
  #news(patience: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, patience);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #body(
    method: string,
    status: number,
    lines: readonly string[],
  ): Promise<string> {
    if (method === "HEAD" || status < 200 || status === 204 || status === 304) {
      return "";
    }
    const length = /^content-length: (\d+)$/m.exec(lines.join("\n"))?.[1];
    if (length !== undefined) {
      return await this.#take((text) =>
        text.length >= Number(length) ? Number(length) : -1
      );
    }
    const isChunked = /^transfer-encoding: chunked$/im.test(lines.join("\n"));
    if (!isChunked) return await this.rest();
    let body = "";
    for (;;) {
      const size = parseInt(await this.#take((text) => end(text, "\r\n")), 16);
      const chunk = await this.#take((text) =>
        text.length >= size + 2 ? size + 2 : -1
      );
      if (size === 0) return body;
      body += chunk.slice(0, size);
    }
  }

  /** Takes as many characters as `length` returns; waits while that is negative. */
  async #take(length: (text: string) => number): Promise<string> {
    const deadline = performance.now() + PATIENCE;
    while (length(this.#received) < 0) {
      if (this.#isClosed || performance.now() >= deadline) {
        const state = this.#isClosed
          ? "The connection is closed"
          : `After ${PATIENCE / 1000} s the connection is still open`;
        const got = this.#all === ""
          ? "without an answer"
          : this.#received === ""
          ? "after the last answer"
          : `after ${JSON.stringify(this.#received)}`;
        throw new Error(`${state}, ${got}`);
      }
      await this.#news(deadline - performance.now());
    }
    const taken = this.#received.slice(0, length(this.#received));
    this.#received = this.#received.slice(taken.length);
    return taken;
  }
}

/** Finds the end of the first `mark` in a text; -1 if there is none. */
function end(text: string, mark: string): number {
  const start = text.indexOf(mark);
  return start < 0 ? -1 : start + mark.length;
}
