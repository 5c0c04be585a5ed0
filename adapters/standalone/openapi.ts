/** Prints the OpenAPI document of a service at `BASE_URL` (default `/v1`). */

import process from "node:process";
import { openApi } from "../../core/operations/operations.ts";
import { check } from "./config.ts";
import { reportAndExit } from "./command_line.ts";

try {
  const document = check("BASE_URL", () => openApi(process.env.BASE_URL));
  process.stdout.write(JSON.stringify(document, null, 2) + "\n");
} catch (cause) {
  reportAndExit(cause);
}
