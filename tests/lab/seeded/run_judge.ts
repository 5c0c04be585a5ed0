/** The judge as a program. */

import { run } from "../../support/process.ts";
import { pathOf } from "../../support/repository.ts";
import { commandLine, type Runtime } from "../../support/runtime.ts";

/** Runs the judge to its end. */
export async function runJudge(
  args: readonly string[],
  { runtime, env = {} }: {
    readonly runtime?: Runtime;
    readonly env?: Readonly<Record<string, string>>;
  } = {},
): Promise<{ readonly code: number | null; readonly text: string }> {
  const main = pathOf("tests/judge/main.ts");
  const command = [...commandLine(main, ["-A"], runtime), ...args];
  const { code, stdout, stderr } = await run(command, { env });
  return { code, text: stdout + stderr };
}
