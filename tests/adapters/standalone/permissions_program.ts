/** Starts the server, adds pets, prints which attempts to use the disk are refused, and ends. */

import { DatabaseSync } from "node:sqlite";
import process from "node:process";
import { runStart } from "../../../adapters/standalone/start.ts";

const [port = "", count = ""] = process.argv.slice(2);
await runStart(["--port", port]);

for (let created = 0; created < Number(count); created++) {
  const response = await fetch(`http://127.0.0.1:${port}/v1/pets`, {
    method: "POST",
    headers: {
      authorization: "Bearer sesame",
      "content-type": "application/json",
    },
    body: '{"name":"Rex","categoryId":1}',
  });
  await response.body?.cancel();
  if (response.status !== 201) throw new Error(`${response.status}`);
}

const attempts = {
  write: () => Deno.writeTextFileSync("new.txt", "text"),
  remove: () => Deno.removeSync("pets.db"),
  "open another database": () => new DatabaseSync("new.db").close(),
  read: () => Deno.readTextFileSync("readable.txt"),
};
const refused = Object.entries(attempts).filter(([, attempt]) => {
  try {
    attempt();
    return false;
  } catch (error) {
    return error instanceof Error && error.name === "NotCapable";
  }
});
console.log(refused.map(([name]) => name).join(", "));
process.kill(process.pid, "SIGTERM");
