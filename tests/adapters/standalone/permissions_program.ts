/**
 * Starts the server, adds pets, and ends. Prints which attempts to use the disk were refused once
 * the server said that it was ready.
 */

import { DatabaseSync } from "node:sqlite";
import process from "node:process";
import { standardError } from "../../../adapters/standalone/output.ts";
import { runStart } from "../../../adapters/standalone/start.ts";
import { ask } from "../../contract/ask.ts";
import { REX_JSON } from "../../support/pets.ts";

const attempts = {
  write: () => Deno.writeTextFileSync("new.txt", "text"),
  remove: () => Deno.removeSync("pets.db"),
  "open another database": () => new DatabaseSync("new.db").close(),
  read: () => Deno.readTextFileSync("readable.txt"),
};
function refusals(): string {
  const refused = Object.entries(attempts).filter(([, attempt]) => {
    try {
      attempt();
      return false;
    } catch (error) {
      return error instanceof Error && error.name === "NotCapable";
    }
  });
  return refused.map(([name]) => name).join(", ");
}

const [port = "", count = ""] = process.argv.slice(2);
const refused = Promise.withResolvers<string>();
const write = standardError.write.bind(standardError);
standardError.write = (text) => {
  // A database that is slow to open is told before.
  if (text.startsWith("Read and try it")) refused.resolve(refusals());
  return write(text);
};
await runStart(["--port", port]);

const service = { fetch, base: `http://127.0.0.1:${port}`, key: "sesame" };
for (let created = 0; created < Number(count); created++) {
  const { status } = await ask(service, "POST", "/v1/pets", { body: REX_JSON });
  if (status !== 201) throw new Error(`${status}`);
}

console.log(await refused.promise);
process.kill(process.pid, "SIGTERM");
