/** Starts `programs/service.ts` on each of the runtimes. */

import test, { after } from "node:test";
import { fileURLToPath } from "node:url";
import type { OpenServer } from "../contract/register.ts";
import { launch } from "./process.ts";
import { commandLine, findRuntimes, type Runtime } from "./runtime.ts";

/** Makes a program serve one more service, with these options, whose key is `secret`. */
type Open = (options: unknown) => Promise<OpenServer>;

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
      return { port, key: "secret", close: () => Promise.resolve() };
    });
    turn = server.catch(() => {});
    return server;
  };
}
