/**
 * The load of [wrk](https://github.com/wg/wrk).
 *
 * @module
 */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { Case } from "./cases.ts";
import { CONNECTIONS, type Load } from "./load.ts";
import { outputOf } from "./output.ts";

/** Makes the load that runs wrk once. */
export function wrk(): Load {
  const folder = mkdtempSync(join(tmpdir(), "petstore-bench-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const script = join(folder, "request.lua");
  return async (origin, work, seconds) => {
    writeFileSync(script, luaScript(work));
    const output = await outputOf("wrk", [
      "--threads=1",
      `--connections=${CONNECTIONS}`,
      `--duration=${Math.ceil(seconds)}`,
      "--latency",
      `--script=${script}`,
      origin + work.target,
    ], {
      seconds: seconds + 10,
      // It counts in whole seconds; interrupted, it says what it has.
      interruptAfter: Number.isInteger(seconds) ? undefined : seconds,
    });
    return JSON.parse(output.trim().split("\n").at(-1) ?? "");
  };
}

/** There is no function `response` in it: wrk would call it for every answer, and be slower. */
function luaScript({ method, headers, body }: Case): string {
  const fields = Object.entries(headers).map(([name, value]) =>
    `wrk.headers[${lua(name)}] = ${lua(value)}`
  );
  return `wrk.method = ${lua(method)}
${fields.join("\n")}
${body === undefined ? "" : `wrk.body = ${lua(body)}`}
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"seconds":%.6f,"refused":%d,"failed":%d,"p50":%.3f,"p99":%.3f}\\n',
    summary.requests,
    summary.duration / 1e6,
    errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50) / 1e3,
    latency:percentile(99) / 1e3
  ))
end
`;
}

/** A text as Lua writes it: for visible ASCII, as JSON does. */
function lua(text: string): string {
  return JSON.stringify(text);
}
