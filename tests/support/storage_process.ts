/** Starts `programs/storage.ts` in a process of its own, on the runtime that runs the tests. */

import { fileURLToPath } from "node:url";
import { launch, type Surroundings } from "./process.ts";
import { commandLine } from "./runtime.ts";

const PROGRAM = fileURLToPath(new URL("programs/storage.ts", import.meta.url));

/** A running `storage.ts`. */
export interface StorageProcess {
  /** Sends one command. */
  send(command: string): void;
  /** The next answers up to the first that begins so; to the last if the process ends before. */
  answersUntil(beginning: string): Promise<readonly string[]>;
  /** Ends it with SIGKILL; fulfilled with the answers that it had given, once it is gone. */
  kill(): Promise<readonly string[]>;
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

  async function answersUntil(beginning: string): Promise<readonly string[]> {
    const answers: string[] = [];
    for (;;) {
      const answer = await nextLine();
      if (answer === undefined) return answers;
      answers.push(answer);
      if (answer.startsWith(beginning)) return answers;
    }
  }

  return {
    send,
    answersUntil,
    async kill() {
      await end("SIGKILL");
      return await answersUntil("never");
    },
    end: endInput,
  };
}
