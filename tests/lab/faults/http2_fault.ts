/** HTTP/2 clients that request much and read nothing. They need no key. */
import assert from "node:assert/strict";
import { connect } from "node:http2";
import { median } from "../bench/figures.ts";
import { memoryAtRest, WATCHED } from "./use.ts";
import { testsOn } from "../../support/standalone.ts";
import { atEnd } from "../../support/at_end.ts";
import { findRuntime } from "../../support/runtime.ts";

const SESSIONS = 5;
const STREAMS = 200;
/** The share of the bytes of all answers by which the memory may grow. */
const MOST_KEPT = 1 / 4;
/** How many times as long `/livez` may take as before. It is measured again until it is sure. */
const LONGEST_LIVEZ = 10;
const TRIES = 10;

// The servers of Bun and Node speak no HTTP/2.
const runtime = findRuntime("deno");
const it = testsOn(runtime, { env: WATCHED });

for (const coding of ["identity", "gzip"]) {
  it(
    `${SESSIONS * STREAMS} answers in ${coding} that nobody reads are not kept`,
    async (server, t) => {
      const time = await usualTime(server.origin);
      const before = await memoryAtRest(server, runtime);
      let size = 0;
      for (let i = 0; i < SESSIONS; i++) {
        const settings = { initialWindowSize: 0 };
        const session = connect(server.origin, { settings });
        session.on("error", () => {}); // it is cut off at the end
        atEnd(t, () => session.destroy());
        const ask = async (): Promise<void> => {
          const stream = session.request({
            ":path": "/docs/swagger-ui.js",
            "accept-encoding": coding,
          });
          stream.on("error", () => {}).end();
          // The heads come, as no window holds them back.
          const fields = await new Promise<Record<string, unknown>>((resolve) =>
            stream.once("response", resolve)
          );
          assert.equal(fields[":status"], 200);
          size += Number(fields["content-length"]);
        };
        await Promise.all(Array.from({ length: STREAMS }, ask));
      }
      const kept = (await memoryAtRest(server, runtime) - before) / size;
      let slower = Infinity;
      for (let i = 0; i < TRIES && slower >= LONGEST_LIVEZ; i++) {
        slower = await usualTime(server.origin) / time;
      }
      console.log(
        `${coding}: ${kept.toFixed(2)} of ${Math.round(size / 1e6)} MB, ` +
          `/livez takes ${slower.toFixed(1)} times as long`,
      );
      assert.ok(kept < MOST_KEPT, `${kept} of the answers are kept`);
      assert.ok(slower < LONGEST_LIVEZ, `${slower} times as long`);
    },
  );
}

/** The median of several looks at `/livez`, in ms. */
async function usualTime(origin: string): Promise<number> {
  const times: number[] = [];
  while (times.length < 20) {
    const start = performance.now();
    await (await fetch(`${origin}/livez`)).text();
    times.push(performance.now() - start);
  }
  return median(times);
}
