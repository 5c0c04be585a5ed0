/**
 * The whole program: the commands of the server, and `sandbox`, `judge` and `exam`. The entry of the
 * npm package's command and of the single binary.
 */

import process from "node:process";
import { reportAndExit } from "../adapters/program/command_line.ts";

/** Runs the command that the arguments name. */
async function main([name, ...args]: readonly string[]): Promise<void> {
  switch (name) {
    case "sandbox":
      return await (await import("../adapters/sandbox/main.ts"))
        .runSandbox(args);
    case "judge":
      return await (await import("./judge/main.ts")).runJudge(args);
    case "exam":
      return await (await import("./exam/main.ts")).runExam(args);
    default:
      await import("../adapters/standalone/main.ts");
  }
}

main(process.argv.slice(2)).catch(reportAndExit);
