/** The log of the program: requests on standard output, all else on standard error. */

import { faultLine, logLine } from "../layers/log.ts";
import { type Output, standardError, standardOutput } from "./output.ts";

/** Logs a message. */
export function logMessage(message: string): void {
  writeLine(standardError, logLine({ message }));
}

/** Logs a fault that is not a request's. */
export function logFault(cause: unknown): void {
  writeLine(standardError, faultLine(cause));
}

/** Where the log layer of the program writes. */
export const LOG = {
  write: (line: string): void => writeLine(standardOutput, line),
  writeFault: (line: string): void => writeLine(standardError, line),
};

function writeLine(output: Output, line: string): void {
  output.write(`${line}\n`);
}
