/** The command `sandbox`: a pet store to test clients and gateways against. */

import { statSync } from "node:fs";
import process from "node:process";
import {
  apiKeys,
  checkRuntime,
  parseBearer,
  parseWithInt64,
} from "../../core/kit.ts";
import {
  APART,
  parseArguments,
  readUtf8,
  reportAndExit,
  UsageError,
} from "../program/command_line.ts";
import { check, integer, readHost } from "../program/values.ts";
import { LOOPBACK } from "../http/server.ts";
import { MAX_BYTES } from "./control.ts";
import { describeRequest } from "./log.ts";
import { sandbox, type SandboxEvent } from "./mod.ts";
import { checkHosts } from "./serve.ts";

const COMMAND = `${APART} sandbox`;

const HELP = `sandbox: runs a pet store in memory, to test clients against

Usage:    ${COMMAND} [--pets N|FILE.json] [--port PORT]
Example:  ${COMMAND} --pets 50

  --port PORT    the port to listen on (0: any free port)
  --host HOST    the address to listen on (127.0.0.1; 0.0.0.0 means every address of this machine)
  --name HOST    another name by which it is reached, such as a compose service; may be repeated
  --key KEY      the API key (test); may be repeated
  --worlds       each other key test-... is a world of its own: for tests that run in parallel
  --pets N       adds N pets, always the same ones, with ids from 1 (0)
  --pets FILE    adds the pets of a file, a JSON array of {"name":"Rex","categoryId":1}, which may have ids
  --max-pets N   the maximum number of pets (100000)
  --after-removal
                 shows the day when getPet is gone, as it will be after 5 December 2030
  --delay MS     delay before each answer, in ms (0)
  --log          writes a line for each request to standard error
  --with-stdin   exits when its standard input is closed
  --quiet        writes no introduction to standard error

It writes one line of JSON to standard output when it listens: url, key, control. The control address
adds faults, resets the store, and lists the requests received: docs/sandbox.md describes it.
`;

/** Runs the command with the arguments that follow `sandbox`. */
export async function runSandbox(args: readonly string[]): Promise<void> {
  checkRuntime();
  const { values } = parseArguments(args, {
    port: { type: "string", default: "0" },
    host: { type: "string", default: "127.0.0.1" },
    name: { type: "string", multiple: true, default: [] },
    key: { type: "string", multiple: true, default: ["test"] },
    pets: { type: "string", default: "0" },
    "max-pets": { type: "string", default: "100000" },
    "after-removal": { type: "boolean", default: false },
    delay: { type: "string", default: "0" },
    worlds: { type: "boolean", default: false },
    log: { type: "boolean", default: false },
    "with-stdin": { type: "boolean" },
    quiet: { type: "boolean" },
  });
  if (values.help) return void process.stdout.write(HELP);
  const number = (name: "port" | "delay" | "max-pets", max = 999_999_999) =>
    check(`--${name}`, () => integer(max)(values[name]), UsageError);
  const port = number("port", 65_535);
  const { key: keys, name: names, pets: file } = values;
  check("--name", () => checkHosts(names), UsageError);
  const hostname = check("--host", () => readHost(values.host), UsageError);
  const getPet = !values["after-removal"];
  const [delay, maxPets] = [number("delay"), number("max-pets")];
  check("--key", () => apiKeys(keys), UsageError);
  const store = check(`--pets ${file}`, () => {
    const pets = readPets(file) as number; // or an array: it is checked
    const { worlds, log } = values;
    const settings = { pets, getPet, key: keys, worlds, delay, maxPets };
    return sandbox({ ...settings, ...log && { onEvent: writeLine } });
  }, UsageError);

  const exit = () => process.exit(0);
  process.stdout.on("error", reportAndExit);
  process.stderr.on("error", () => {}); // its reader may be gone
  process.on("SIGTERM", exit).on("SIGINT", exit);
  const { url, key, control } = await store.serve({ port, hostname, names });
  if (values["with-stdin"]) {
    process.stdin.on("end", exit).on("error", exit).resume();
  }
  if (!values.quiet) {
    const warning = LOOPBACK.test(hostname)
      ? ""
      : `It listens on ${hostname}, so it is open to everyone who can reach this machine.\n`;
    process.stderr.write(`
A sandbox, for tests only: its pets are in memory, and anyone who can reach it can change everything.
${warning}
    curl -H "Authorization: Bearer ${key}" ${url}/pets
    curl -H "Content-Type: application/json" -d '{"answer":{"status":503}}' ${control}/faults
    curl ${control}/requests

`);
  }
  process.stdout.write(`${JSON.stringify({ url, key, control })}\n`);
}

/** Writes a line about a request that has ended; with `--worlds`, its key distinguishes it. */
function writeLine({ type, request }: SandboxEvent): void {
  if (type !== "end") return;
  const key = parseBearer(request.headers.authorization ?? null);
  const world = /^test-/.test(String(key)) ? `${key}  ` : "";
  process.stderr.write(`${world}${describeRequest(request)}\n`);
}

/** Reads `--pets`: a number, or the JSON of a file. */
function readPets(text: string): unknown {
  if (/^\d+$/.test(text)) return Number(text);
  const file = statSync(text, { throwIfNoEntry: false });
  if (file === undefined) throw new Error("there is no such file");
  if (!file.isFile()) throw new Error("it is not a regular file");
  if (file.size > MAX_BYTES) {
    throw new Error(`it has more than ${MAX_BYTES} bytes`);
  }
  const json = readUtf8(text);
  const pets = parseWithInt64(json, "categoryId", "id");
  if (pets !== undefined) return pets;
  try {
    return JSON.parse(json);
  } catch (cause) {
    // It says where, and V8 quotes the lines around it.
    throw new Error((cause as Error).message.replace(/\s+/g, " "));
  }
}

if (import.meta.main) runSandbox(process.argv.slice(2)).catch(reportAndExit);
