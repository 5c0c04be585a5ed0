/**
 * Prints the OpenAPI document of a service at `BASE_URL` (default `/v1`).
 *
 * @module
 */

import process from "node:process";
import { openApi } from "../../core/openapi/openapi.ts";

const document = openApi(process.env.BASE_URL);
process.stdout.write(JSON.stringify(document, null, 2) + "\n");
