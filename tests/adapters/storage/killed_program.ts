/** Opens an SQLite file, and is killed after it has run a statement that begins as an argument says. */

import process from "node:process";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { sqliteStorage } from "../../../adapters/storage/sqlite/mod.ts";

const [, , path = "", last = ""] = process.argv;
const { prepare } = DatabaseSync.prototype;
DatabaseSync.prototype.prepare = function (...args): StatementSync {
  const statement = prepare.apply(this, args);
  if (args[0].startsWith(last)) {
    const run = statement.run.bind(statement);
    statement.run = () => {
      run();
      process.kill(process.pid, "SIGKILL");
      throw new Error("It was not killed");
    };
  }
  return statement;
};
await sqliteStorage(path);
