/**
 * The one file that plain `deno test` finds: the tests need packages, a seed and a PostgreSQL server that
 * only the task gives them. `deno.json` names it (`test.include`).
 */
import process from "node:process";

console.error("Run the tests with: deno task test");
process.exit(1);
