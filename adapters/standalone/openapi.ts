/** Prints the OpenAPI document of a service at `BASE_URL` (default `/v1`). */

import process from "node:process";
import { openApi } from "../../core/kit.ts";
import {
  APART,
  parseArguments,
  reportAndExit,
} from "../program/command_line.ts";
import { check } from "../program/values.ts";
import { toOpenApi30 } from "./openapi_30.ts";

const HELP = `openapi: prints the OpenAPI document of a service

Usage:    ${APART} openapi [--3.0]
Example:  BASE_URL=https://api.example.com/v1 ${APART} openapi

BASE_URL is a path (/v1), or an absolute URL, as for start. The document is OpenAPI 3.1;
with --3.0 it is OpenAPI 3.0.3, for tools that do not support 3.1.
`;

process.stdout.on("error", reportAndExit);
try {
  const { values } = parseArguments(process.argv.slice(2), {
    "3.0": { type: "boolean" },
  });
  const document = check("BASE_URL", () => openApi(process.env.BASE_URL));
  const printed = values["3.0"] ? toOpenApi30(document) : document;
  process.stdout.write(
    values.help ? HELP : JSON.stringify(printed, null, 2) + "\n",
  );
} catch (cause) {
  reportAndExit(cause);
}
