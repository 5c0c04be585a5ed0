/** Starts the programs in `programs/`. */

import test, { after } from "node:test";
import { fileURLToPath } from "node:url";
import type { OpenService } from "../contract/ask.ts";
import { launch, type Surroundings } from "./process.ts";
import { commandLine, findRuntimes, type Runtime } from "./runtime.ts";

/** Makes a program serve one more service, with these options, whose key is `secret`. */
type Open = (
  options: unknown,
) => Promise<OpenService & { readonly port: number }>;

/** Registers tests of a server on every runtime; one that is missing is reported as skipped. */
export function onEveryRuntime(
  what: string,
  register: (name: Runtime["name"], open: Open) => void,
): void {
  for (const runtime of findRuntimes()) {
    const { name, missing } = runtime;
    if (missing !== undefined) {
      test(`${name}: ${what}`, { skip: missing }, () => {});
    } else register(name, start(runtime));
  }
}

/** Starts the program on a runtime; it ends after the last test of the file. */
function start(runtime: Runtime): Open {
  const file = fileURLToPath(new URL("programs/service.ts", import.meta.url));
  const command = commandLine(file, ["--allow-net", "--allow-env"], runtime);
  const program = launch(command, { isInteractive: true });
  after(() => program.endInput());
  let turn: Promise<unknown> = Promise.resolve();
  return (options) => {
    const server = turn.then(async () => {
      program.send(JSON.stringify(options));
      const line = await program.nextLine();
      if (line === undefined) {
        const end = `${runtime.name} ended before it served`;
        throw new Error(`${end}:\n${program.stderr()}`);
      }
      const { port } = JSON.parse(line);
      const base = `http://127.0.0.1:${port}/v1`;
      const close = () => Promise.resolve();
      return { fetch, base, port, key: "secret", runtime: runtime.name, close };
    });
    turn = server.catch(() => {});
    return server;
  };
}

const PROGRAM = fileURLToPath(new URL("programs/storage.ts", import.meta.url));

/** A running `storage.ts`. */
export interface StorageProcess {
  /** Sends a command, and returns its answers, without `done`; fewer if the process ends before. */
  ask(command: string): Promise<readonly string[]>;
  /** Ends it with SIGKILL; fulfilled once it is gone. */
  kill(): Promise<unknown>;
  /** Ends it in order. */
  end(): Promise<unknown>;
}

/** Settings of {@linkcode startStorage}. */
export interface StartOptions extends Pick<Surroundings, "env"> {
  /** The command line that the runtime's own is appended to. Default: none. */
  readonly prefix?: readonly string[];
  /** Flags of Deno. Default: all permissions. */
  readonly denoFlags?: readonly string[];
}

/** Starts the program. */
export function startStorage(
  { prefix = [], denoFlags, ...surroundings }: StartOptions = {},
): StorageProcess {
  const command = [...prefix, ...commandLine(PROGRAM, denoFlags)];
  const { send, nextLine, end, endInput } = launch(command, {
    ...surroundings,
    isInteractive: true,
  });

  return {
    async ask(command) {
      send(command);
      const answers: string[] = [];
      for (;;) {
        const answer = await nextLine();
        if (answer === undefined || answer === "done") return answers;
        answers.push(answer);
        if (!command.startsWith("create ")) return answers;
      }
    },
    kill: () => end("SIGKILL"),
    end: endInput,
  };
}
