/** The command `judge`: holds the contract against any pet store, and says clause by clause what holds. */

import process from "node:process";
import {
  parseArguments,
  reportAndExit,
  UsageError,
} from "../../adapters/standalone/command_line.ts";
import type { OpenService } from "../contract/ask.ts";
import type { Clause } from "../contract/clause.ts";
import { HOSTILE_BYTES_CLAUSES } from "../contract/hostile_bytes_contract.ts";
import { HTTP_CLAUSES } from "../contract/http_contract.ts";
import { IDEMPOTENCY_CLAUSES } from "../contract/http_idempotency_contract.ts";
import { add, get, petsIn } from "../contract/own_pets.ts";
import { RAW_HTTP_CLAUSES } from "../contract/raw_http_contract.ts";
import { judge, PATIENCE } from "./judge.ts";

const HELP = `judge: holds the contract of the pet store against any service

  judge ADDRESS --key KEY    ADDRESS ends in /v1: http://localhost:3000/v1

  --only spec    only what the interface says itself, without the decisions where it is silent
  --yes          also if ADDRESS is not on this machine

It adds some hundred pets with random names and leaves them: the interface has no delete. The status
is 0 if no clause fails, otherwise 1; 2 if the arguments are wrong.
`;

const LOOPBACK = /^(?:(?:.*\.)?localhost|127\.[\d.]+|\[::1\])$/;

const HEADINGS = [
  ["interface", "The interface"],
  ["decision", "Decisions where the interface is silent"],
] as const;

/** Runs the command with the arguments that follow `judge`. */
export async function runJudge(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArguments(args, {
    key: { type: "string" },
    only: { type: "string" },
    yes: { type: "boolean" },
  });
  if (values.help) return void process.stdout.write(HELP);
  const url = readAddress(positionals);
  const { key, only, yes } = values;
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
  const base = url.origin + url.pathname.replace(/\/$/, "");
  const close = (): Promise<void> => Promise.resolve();
  await judgeAll({ fetch, base, key, close }, only === "spec");
}

function readAddress([address = "", ...more]: readonly string[]): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isBase = url !== undefined && /^https?:$/.test(url.protocol) &&
    /\/v1\/?$/.test(url.pathname);
  if (isBase && more.length === 0) return url;
  throw new UsageError(
    "judge takes the base address of a service, which ends in /v1, such as http://localhost:3000/v1",
  );
}

async function judgeAll(
  service: OpenService,
  onlyStated: boolean,
): Promise<void> {
  await findService(service);
  say(
    `Judging ${service.base}. This adds some hundred pets with random names and leaves them.\n` +
      "Meanwhile nobody else should add pets.",
  );
  const judged = { ...service, ...await findMark(service) };
  const clauses = clausesFor(service);
  const total = [];
  for (const [source, heading] of HEADINGS.slice(0, onlyStated ? 1 : 2)) {
    const counts = { holds: 0, fails: 0, unseen: 0 };
    say(`\n${heading}:\n`);
    for (const clause of clauses) {
      if (clause.source !== source) continue;
      const { outcome, text } = await judge(clause, judged);
      counts[outcome]++;
      say(text);
    }
    if (counts.fails > 0) process.exitCode = 1;
    const { holds, fails, unseen } = counts;
    total.push(
      `${heading}: ${holds} hold, ${fails} fail, ${unseen} cannot be seen from outside.`,
    );
  }
  say(`\n${total.join(" ")}`);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** @throws {Error} if there is no service, or it does not know the key. */
async function findService({ base, key }: OpenService): Promise<void> {
  let response: Response;
  try {
    response = await fetch(`${base}/pets`, {
      headers: { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(PATIENCE),
    });
    await response.body?.cancel();
  } catch (cause) {
    throw new Error(`Nothing answers at ${base}`, { cause });
  }
  if (response.status === 401) {
    throw new Error(`The service at ${base} says that the key is wrong (401)`);
  }
}

/** Adds a pet, and looks whether the listing begins after it when asked to. */
async function findMark(
  service: OpenService,
): Promise<{ readonly mark?: bigint }> {
  let found: { mark?: bigint } = {};
  await judge({
    sentence: "",
    source: "decision",
    checks: [async (service) => {
      const { id: mark } = await add(service);
      const page = await get(service, `/pets?limit=100&after=${mark - 1n}`);
      if (petsIn(page).every(({ id }) => id === mark)) found = { mark };
    }],
  }, service);
  return found;
}

function clausesFor({ base }: OpenService): readonly Clause[] {
  const outside = "it takes a connection without TLS";
  const ofBytes = [...RAW_HTTP_CLAUSES, ...HOSTILE_BYTES_CLAUSES];
  return [
    ...HTTP_CLAUSES,
    ...IDEMPOTENCY_CLAUSES,
    ...base.startsWith("https:")
      ? ofBytes.map((clause) => ({ ...clause, outside }))
      : ofBytes,
  ];
}

if (import.meta.main) runJudge(process.argv.slice(2)).catch(reportAndExit);
