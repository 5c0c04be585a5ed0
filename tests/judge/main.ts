/** The command `judge`: checks any pet store against the contract, clause by clause. */

import process from "node:process";
import {
  parseArguments,
  reportAndExit,
  UsageError,
} from "../../adapters/standalone/command_line.ts";
import { checkExact } from "../../core/json.ts";
import type { OpenService } from "../contract/ask.ts";
import { HOSTILE_BYTES_CLAUSES } from "../contract/hostile_bytes_contract.ts";
import { HTTP_CLAUSES } from "../contract/http_contract.ts";
import { IDEMPOTENCY_CLAUSES } from "../contract/http_idempotency_contract.ts";
import { add, get, petsIn } from "../contract/own_pets.ts";
import { RAW_HTTP_CLAUSES } from "../contract/raw_http_contract.ts";
import { judge, PATIENCE } from "./judge.ts";

const HELP = `judge: checks any service against the contract of the pet store

  judge ADDRESS --key KEY    ADDRESS ends in /v1: http://localhost:3000/v1

  --only spec    checks only what the interface says, not the decisions where it is silent
  --yes          allows an ADDRESS that is not on this machine

It adds a few hundred pets with random names and leaves them: the interface has no delete. The exit
status is 0 if no clause fails, 1 if one does, and 2 if the arguments are wrong.
`;

const LOOPBACK = /^(?:(?:.*\.)?localhost|127\.[\d.]+|\[::1\])$/;

const HEADINGS = {
  interface: "The interface",
  decision: "Decisions where the interface is silent",
};

/** Runs the command with the arguments that follow `judge`. */
export async function runJudge(args: readonly string[]): Promise<void> {
  checkExact();
  process.stdout.on("error", () => process.exit(1)); // nobody reads any more, as after `| head`
  const { values, positionals } = parseArguments(args, {
    key: { type: "string" },
    only: { type: "string" },
    yes: { type: "boolean" },
  });
  const { help, key, only, yes } = values;
  if (help) return void process.stdout.write(HELP);
  const [address = "", ...more] = positionals;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const [, base] = /^(https?:.*\/v1)\/?$/.exec(url?.href ?? "") ?? [];
  if (url === undefined || base === undefined || more.length > 0) {
    throw new UsageError(
      "judge takes the base address of a service, which ends in /v1, such as http://localhost:3000/v1",
    );
  }
  if (typeof key !== "string" || key === "") {
    throw new UsageError("judge needs an API key of the service: --key KEY");
  }
  if (only !== undefined && only !== "spec") {
    throw new UsageError(`--only can be spec, not ${only}`);
  }
  if (!LOOPBACK.test(url.hostname) && yes !== true) {
    throw new UsageError(
      `${url.hostname} is not on this machine, and pets that are added there stay: confirm with --yes`,
    );
  }
  const close = (): Promise<void> => Promise.resolve();
  await judgeAll({ fetch, base, key, close }, only === "spec");
}

async function judgeAll(service: OpenService, isSpec: boolean): Promise<void> {
  await findService(service);
  console.log(
    `Judging ${service.base}. This adds a few hundred pets with random names and leaves them.\n` +
      "Nobody else should add pets meanwhile.",
  );
  const judged = { ...service, ...await findMark(service) };
  const needsTcp = service.base.startsWith("https:") &&
    { outside: "it takes a connection without TLS" };
  const bytes = [...RAW_HTTP_CLAUSES, ...HOSTILE_BYTES_CLAUSES]
    .map((clause) => ({ ...clause, ...needsTcp }));
  const clauses = [...HTTP_CLAUSES, ...IDEMPOTENCY_CLAUSES, ...bytes];
  const totals: string[] = [];
  for (const source of ["interface", "decision"] as const) {
    if (isSpec && source === "decision") continue;
    const heading = HEADINGS[source];
    const counts = { holds: 0, fails: 0, unseen: 0 };
    console.log(`\n${heading}:\n`);
    for (const clause of clauses) {
      if (clause.source !== source) continue;
      const { outcome, text } = await judge(clause, judged);
      counts[outcome]++;
      console.log(text);
    }
    const { holds, fails, unseen } = counts;
    if (fails > 0) process.exitCode = 1;
    totals.push(
      `${heading}: ${holds} hold, ${fails} fail, ${unseen} cannot be seen from outside.`,
    );
  }
  console.log(`\n${totals.join("\n")}`);
}

/** @throws {Error} if there is no service, or it does not know the key. */
async function findService({ base, key }: OpenService): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  const signal = AbortSignal.timeout(PATIENCE);
  const init: RequestInit = { headers, signal, redirect: "manual" };
  const { status, body } = await fetch(`${base}/pets`, init).catch((cause) => {
    while (cause.cause instanceof Error) cause = cause.cause;
    const reason = cause.message || cause.code; // Node gives two addresses that refuse no message
    throw new Error(`Nothing answers at ${base}: ${reason}`, { cause });
  });
  await body?.cancel();
  if (status === 401) throw new Error(`${base} refuses the key (401)`);
}

/** Adds two pets, and looks whether the listing begins after the first when asked to. */
async function findMark(
  service: OpenService,
): Promise<{ readonly mark?: bigint }> {
  let found = {};
  const check = async (service: OpenService): Promise<void> => {
    const { id: mark } = await add(service);
    const { id: next } = await add(service);
    const page = petsIn(await get(service, `/pets?limit=100&after=${mark}`));
    if (page.every(({ id }) => id === next)) found = { mark };
  };
  await judge({ sentence: "", source: "decision", checks: [check] }, service);
  return found;
}

if (import.meta.main) runJudge(process.argv.slice(2)).catch(reportAndExit);
