/** The command `sandbox`: a pet store to test clients, gateways and lessons against. */

import { readFileSync, statSync } from "node:fs";
import process from "node:process";
import { checkRuntime } from "../../core/json.ts";
import {
  IS_PACKAGE,
  parseArguments,
  PROGRAM,
  reportAndExit,
  UsageError,
} from "../standalone/command_line.ts";
import type { NewPet } from "../../core/pets/pet.ts";
import { MAX_BYTES } from "./control.ts";
import { sandbox, type SandboxOptions, type SandboxServer } from "./mod.ts";
import { parsePets } from "./seed.ts";

const COMMAND = IS_PACKAGE ? `${PROGRAM} sandbox` : "deno task sandbox";

const HELP = `sandbox: runs a pet store in memory, for the tests of clients

Usage:    ${COMMAND} [--pets N|FILE.json] [--port PORT]
Example:  ${COMMAND} --pets 50

  --port PORT    the port to listen on (0: any free port)
  --host HOST    the address to listen on (127.0.0.1; 0.0.0.0 means every address of this machine)
  --name HOST    a further name by which it is reached, as in compose; may be repeated
  --key KEY      the API key (test)
  --pets N       adds N pets, always the same, with ids from 1 (0)
  --pets FILE    adds the pets of a file, a JSON array of {"name":"Rex","categoryId":1}
  --max-pets N   the most pets that it keeps (100000)
  --delay MS     time before each answer, in ms (0)
  --with-stdin   ends when its standard input is closed
  --quiet        writes no introduction to standard error

It writes one line of JSON to standard output when it listens: url, key, control. The control address
adds faults, resets the store, and lists the requests that came: docs/sandbox.md describes it.
`;

/** Runs the command with the arguments that follow `sandbox`. */
export async function runSandbox(args: readonly string[]): Promise<void> {
  checkRuntime();
  const { values, positionals } = parseArguments(args, {
    port: { type: "string" },
    host: { type: "string" },
    name: { type: "string", multiple: true },
    key: { type: "string" },
    pets: { type: "string" },
    "max-pets": { type: "string" },
    delay: { type: "string" },
    "with-stdin": { type: "boolean" },
    quiet: { type: "boolean" },
  });
  if (values.help) return void process.stdout.write(HELP);
  if (positionals.length > 0) {
    throw new UsageError(`sandbox takes options only, not ${positionals[0]}`);
  }
  // All of them have the type "string".
  const { host = "127.0.0.1", key = "test", name = [] } = values as {
    readonly host?: string;
    readonly key?: string;
    readonly name?: readonly string[];
  };
  const port = readInteger("--port", values.port, 65_535);
  const maxPets = readInteger("--max-pets", values["max-pets"] ?? "100000");
  const delay = readInteger("--delay", values.delay, 2 ** 31 - 1);

  for (const signal of ["SIGTERM", "SIGINT"]) {
    process.on(signal, () => process.exit(0));
  }
  const pets = readPets(`${values.pets ?? "0"}`);
  const store = make({ pets, key, delay, maxPets });
  const server = await store.serve({ port, hostname: host, names: name });
  if (values["with-stdin"]) {
    // Deno 2.9 emits no "close".
    process.stdin.on("end", () => process.exit(0))
      .on("error", () => process.exit(0)).resume();
  }
  if (!values.quiet) process.stderr.write(introduce(server, host));
  const { url, control } = server;
  process.stdout.write(`${JSON.stringify({ url, key, control })}\n`);
}

/** @throws {UsageError} if what was given is wrong. */
function make(options: SandboxOptions) {
  try {
    return sandbox(options);
  } catch (cause) {
    throw new UsageError((cause as Error).message);
  }
}

function readInteger(
  option: string,
  text: string | boolean = "0",
  max = 999_999_999,
): number {
  const value = /^\d{1,10}$/.test(`${text}`) ? Number(text) : NaN;
  if (value <= max) return value;
  throw new UsageError(
    `Cannot read ${option}: it must be an integer from 0 to ${max}, not ${text}`,
  );
}

/** Reads `--pets`: a number, or the pets of a file. */
function readPets(text: string): number | readonly NewPet[] {
  if (/^\d+$/.test(text)) return Number(text);
  const fail = (reason: string) =>
    new UsageError(`Cannot read pets of ${text}: ${reason}`);
  let json: string;
  try {
    if (statSync(text).size > MAX_BYTES) {
      throw fail(`it has more than ${MAX_BYTES} bytes`);
    }
    json = readFileSync(text, "utf8");
  } catch (cause) {
    throw cause instanceof UsageError ? cause : fail((cause as Error).message);
  }
  let pets: unknown;
  try {
    pets = parsePets(json);
  } catch {
    throw fail("it is not valid JSON");
  }
  if (!Array.isArray(pets)) throw fail("it must be a JSON array of pets");
  return pets; // `sandbox` checks them
}

function introduce(
  { url, key, control }: SandboxServer,
  host: string,
): string {
  const isOpen = !/^(?:localhost|127\.[\d.]+|::1)$/.test(host);
  return `
A sandbox, for tests: its pets are in memory, and whoever reaches it can do everything.
${
    isOpen
      ? `It listens on ${host}: it is open to everyone who reaches this machine.\n`
      : ""
  }
    curl -H "Authorization: Bearer ${key}" '${url}/pets'
    curl --json '{"answer":{"status":503}}' ${control}/faults
    curl ${control}/requests

`;
}

if (import.meta.main) runSandbox(process.argv.slice(2)).catch(reportAndExit);
