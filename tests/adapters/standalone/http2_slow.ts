/** Clients of HTTP/2 that ask for much and read nothing. They need no key. */
import assert from "node:assert/strict";
import { connect } from "node:http2";
import process from "node:process";
import { test } from "node:test";
import { atEnd } from "../../support/at_end.ts";
import { RUNTIME, skipping } from "../../support/runtime.ts";
import { startMain } from "../../support/standalone.ts";

const skip = skipping(
  (RUNTIME !== "deno" || process.platform !== "linux") &&
    "only Deno serves HTTP/2 in clear text, and only Linux tells its memory",
);

/** The shortest of three looks at a path, in ms. */
async function bestTime(url: string): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 3; i++) {
    const start = performance.now();
    await (await fetch(url)).text();
    times.push(performance.now() - start);
  }
  return Math.min(...times);
}

const CODINGS = [undefined, "gzip"];
for (const coding of CODINGS) {
  test(
    `1000 answers in ${
      coding ?? "no coding"
    } that nobody reads take at most 150 MB`,
    { skip, timeout: 60_000 },
    async (t) => {
      const server = await startMain(t, { env: { DATABASE_URL: "memory:" } });
      const before = server.memory();
      for (let i = 0; i < 5; i++) {
        const settings = { initialWindowSize: 0 };
        const session = connect(server.origin, { settings });
        session.on("error", () => {}); // it is cut off at the end
        atEnd(t, () => session.destroy());
        await new Promise((resolve) => session.once("connect", resolve));
        const answered: Promise<unknown>[] = [];
        for (let j = 0; j < 200; j++) {
          const stream = session.request({
            ":path": "/docs/swagger-ui.js",
            ...coding && { "accept-encoding": coding },
          });
          stream.on("error", () => {});
          answered.push(
            new Promise((resolve) =>
              stream.once("response", (fields) => resolve(fields[":status"]))
            ),
          );
          stream.end();
        }
        // The heads come, as no window holds them back.
        assert.deepEqual(
          new Set(await Promise.all(answered)),
          new Set([200]),
        );
      }
      const time = await bestTime(`${server.origin}/livez`);
      assert.ok(time < 500, `${time} ms`);
      const more = server.memory() - before;
      assert.ok(more < 150e6, `${more} bytes more`);
    },
  );
}
