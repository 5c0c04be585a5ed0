/** Prints the OpenAPI document of a service at `BASE_URL` (default `/v1`). */

import process from "node:process";
import { openApi } from "../../core/operations/operations.ts";
import { parseArguments, reportAndExit, UsageError } from "./command_line.ts";
import { check } from "./config.ts";

const HELP = `openapi: prints the OpenAPI document of a service

Usage:    deno task openapi
Example:  BASE_URL=https://api.example.com/v1 deno task openapi

BASE_URL is a path (/v1), or an absolute URL, as for start.
`;

try {
  const { values, positionals } = parseArguments(process.argv.slice(2), {});
  if (positionals.length > 0) {
    throw new UsageError("openapi takes no arguments");
  }
  const document = check("BASE_URL", () => openApi(process.env.BASE_URL));
  process.stdout.write(
    values.help ? HELP : JSON.stringify(document, null, 2) + "\n",
  );
} catch (cause) {
  reportAndExit(cause);
}
