import { readConfig } from "../../adapters/standalone/config.ts";

/** The variables that the server reads, in its order. */
export const VARIABLES: string[] = [];

readConfig(
  new Proxy({}, { get: (_, name) => void VARIABLES.push(String(name)) }),
);
