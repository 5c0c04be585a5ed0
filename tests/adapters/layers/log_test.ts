import assert from "node:assert/strict";
import test from "node:test";
import { faultLine, logLayer } from "../../../adapters/layers/log.ts";
import { StorageError } from "../../../mod.ts";
import { turns } from "../../support/time.ts";

const answer = { status: 405, headers: {}, body: null, keyId: 3 };

/** Sends a request through a layer of the log. */
function send(layer: ReturnType<typeof logLayer>, answered: object = answer) {
  const headers = new Headers({ "x-request-id": "1" });
  const request = { method: "X".repeat(21), url: "", headers };
  const service = layer(async () => ({ ...answer, ...answered }));
  return service(request, undefined, () => Promise.reject());
}

test("a line has what is known of a request, a fault or a trace", async (t) => {
  const lines: string[] = [];
  const api = Symbol.for("opentelemetry.js.api.1");
  let traceId = "0".repeat(32); // of a span that is not recorded
  const span = { spanContext: () => ({ traceId }) };
  const context = { active: () => ({ getValue: () => span }) };
  t.after(() => Reflect.deleteProperty(globalThis, api));
  Reflect.set(globalThis, api, { context });
  const times = [10, 22.3456];
  t.mock.method(performance, "now", () => times.shift());
  await send(logLayer({ write: (line) => lines.push(line) }));
  traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
  const gone = new StorageError("unavailable", "Gone", { cause: "why" });
  lines.push(faultLine(gone, { id: "2", key: "b" }));
  lines.push(faultLine(["a mistake"]));
  const time = /(?<=^\{"time":")\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/;
  assert.deepEqual(lines.map((line) => line.replace(time, "TIME")), [
    '{"time":"TIME","method":"XXXXXXXXXXXXXXXXXXXX","route":null,"status":405,"ms":12.346,"id":"1","key":3}',
    `{"time":"TIME","id":"2","key":"b","error":"Gone (unavailable)","trace_id":"${traceId}"}`,
    `{"time":"TIME","error":"[ 'a mistake' ]","trace_id":"${traceId}"}`,
  ]);
});

test("logLayer writes to the console by default, and write: false logs faults alone", async (t) => {
  const lines: string[] = [];
  for (const name of ["log", "error"] as const) {
    t.mock.method(console, name, (line: string) => {
      lines.push(`${name} ${line.replace(/^.*"id":"1",/, "")}`);
    });
  }
  await send(logLayer());
  await send(logLayer({ write: false }), { cause: "lost" });
  assert.deepEqual(lines, ['log "key":3}', `error "key":3,"error":"'lost'"}`]);
});

test("a log that cannot be written holds no request up", async () => {
  const failures = [
    () => {
      throw new Error("full");
    },
    () => Promise.reject(new Error("full")),
    () => new Promise(() => {}),
  ];
  for (const write of failures) {
    const layer = logLayer({ write, writeFault: write });
    const { status, headers } = await send(layer, { cause: "lost" });
    assert.deepEqual(
      [status, headers],
      [405, { "x-request-id": "1" }],
      `${write}`,
    );
  }
  await turns();
});
