/** What tests of a server share: a server and its clients, opened and closed for each test. */

import assert from "node:assert/strict";
import type { ServeOptions, Server } from "../../../adapters/http/server.ts";
import { Wire } from "../../contract/wire.ts";

/** Opens what a test needs; `Handle` is what a server serves. */
export interface Stage<Handle> {
  /** Serves a function on a free port. */
  readonly listen: (handle: Handle, port?: number) => Promise<Server>;
  /** Connects to a server, and sends a text. */
  readonly open: (server: Server, text?: string) => Promise<Wire>;
  /** Serves a function, and connects to the server. */
  readonly speak: (handle: Handle) => Promise<Wire>;
  /** Lets go at the end of what a server that closes would wait for, also if the test failed before. */
  readonly atEnd: (act: () => unknown) => void;
}

export const GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
/** The start of a request with a body. */
export const POST = "POST / HTTP/1.1\r\nHost: a\r\n";

/** Makes the function that registers a test; what that opens is closed at its end, and fails it if it reported an error. */
export function staging<Handle>(
  register: (title: string, check: () => Promise<void>) => unknown,
  serve: (handle: Handle, options: ServeOptions) => Promise<Server>,
): (title: string, check: (stage: Stage<Handle>) => Promise<void>) => void {
  return (title, check) => {
    register(title, async () => {
      const errors: unknown[] = [];
      const servers: Server[] = [];
      const ends: (() => unknown)[] = [];
      const stage: Stage<Handle> = {
        async listen(handle, port = 0) {
          const onError = (error: unknown) => errors.push(error);
          const server = await serve(handle, { port, onError });
          servers.push(server);
          return server;
        },
        async open({ port }, text) {
          const wire = await Wire.open(port, text);
          ends.push(() => wire.close());
          return wire;
        },
        speak: async (handle) => stage.open(await stage.listen(handle)),
        atEnd: (act) => void ends.push(act),
      };
      try {
        await inTime(check(stage));
      } finally {
        // First what they would wait for.
        for (const end of ends) end();
        await inTime(Promise.all(servers.map((server) => server.close())));
      }
      assert.deepEqual(errors, []);
    });
  };
}

/** Fails if something takes longer than 30 s, so that a test that hangs says so itself. */
async function inTime(work: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const fail = () => late.reject(new Error("It takes longer than 30 s"));
  const timer = setTimeout(fail, 30_000);
  try {
    await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

export function aMoment(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 50));
}
