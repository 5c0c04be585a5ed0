/**
 * The load of [autocannon](https://github.com/mcollina/autocannon), in a process of its own: where there
 * is nothing but npm.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { CONNECTIONS, type Count, type Load } from "./load.ts";
import { outputOf } from "./output.ts";

const PROGRAM = fileURLToPath(
  new URL(
    "../contestants/node_modules/autocannon/autocannon.js",
    import.meta.url,
  ),
);

/** Makes the load that runs autocannon once. */
export function autocannon(node: string): Load {
  return async (origin, { method, target, headers, body }, seconds) => {
    const output = await outputOf(node, [
      PROGRAM,
      "--json",
      `--connections=${CONNECTIONS}`,
      "--pipelining=1",
      `--duration=${seconds}`,
      `--method=${method}`,
      ...Object.entries(headers).flatMap((
        [name, value],
      ) => ["--headers", `${name}=${value}`]),
      ...body === undefined ? [] : ["--body", body],
      origin + target,
    ], { seconds: seconds + 10 });
    return toCount(JSON.parse(output));
  };
}

interface Result {
  readonly duration: number;
  readonly "2xx": number;
  readonly non2xx: number;
  readonly errors: number;
  readonly timeouts: number;
  readonly latency: { readonly p50: number; readonly p99: number };
}

function toCount(result: Result): Count {
  const { duration, non2xx, errors, timeouts, latency } = result;
  return {
    requests: result["2xx"] + non2xx,
    seconds: duration,
    refused: non2xx,
    failed: errors + timeouts,
    p50: latency.p50,
    p99: latency.p99,
  };
}
