/** HTTP/2 clients that request much and read nothing. They need no key. */
import assert from "node:assert/strict";
import { connect } from "node:http2";
import { megabytes, memoryAtRest, timeOfRequest, WATCHED } from "./use.ts";
import { testsOn } from "../../support/standalone.ts";
import { atEnd } from "../../support/at_end.ts";
import { findRuntime } from "../../support/runtime.ts";

const SESSIONS = 5;
const STREAMS = 200;
/** The share of the bytes of all answers by which the memory may grow. */
const MOST_KEPT = 1 / 4;
/** How many times as much processor time a request may take as before. */
const MOST_TIME = 5;

// The servers of Bun and Node speak no HTTP/2.
const runtime = findRuntime("deno");
const onServer = { test: testsOn(runtime, { env: WATCHED }) };

for (const coding of ["identity", "gzip"]) {
  onServer.test(
    `${SESSIONS * STREAMS} answers in ${coding} that nobody reads are not kept`,
    async (server, t) => {
      const time = await timeOfRequest(server);
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
      const slower = await timeOfRequest(server) / time;
      console.log(
        `${coding}: ${kept.toFixed(2)} of ${megabytes(size)} MB, ` +
          `/livez takes ${slower.toFixed(1)} times the time`,
      );
      assert.ok(kept < MOST_KEPT, `${kept} of the answers are kept`);
      assert.ok(slower < MOST_TIME, `${slower} times the time`);
    },
  );
}
