/**
 * Ours as the program that `deno task start` runs. Its arguments and its environment are the program's.
 *
 * @module
 */

import "./settings.ts";
import "../../../adapters/standalone/main.ts";
