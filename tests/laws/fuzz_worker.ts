/** Holds the laws of requests for one round at a time, and answers each with what broke them. */

import { inspect } from "node:util";
import { parentPort } from "node:worker_threads";
import { holdAgainstAnything } from "./any_request.ts";
import { documentOf } from "./openapi_document.ts";
import { holdAgainst } from "./openapi_law.ts";

/** So many requests, by a seed. */
export interface Round {
  readonly seed: number;
  readonly numRuns: number;
}

const document = documentOf();

async function hold({ seed, numRuns }: Round): Promise<void> {
  // One in four is any request at all; the others are as the document allows, but for one fault.
  const wild = Math.floor(numRuns / 4);
  await holdAgainst(document, { seed, numRuns: numRuns - wild });
  await holdAgainstAnything(document, { seed, numRuns: wild });
}

parentPort?.on("message", (round: Round) => {
  hold(round).then(
    () => parentPort?.postMessage(undefined),
    (error) => parentPort?.postMessage(inspect(error)),
  );
});
