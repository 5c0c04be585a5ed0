/** The examples that are tests: they run here, on each runtime. */

import { placeExample } from "../support/examples.ts";
import { temporaryDirectory } from "../support/temporary_directory.ts";

const folder = temporaryDirectory();
await import(placeExample("application_test.ts", folder));
await import(placeExample("storage_contract.ts", folder));
