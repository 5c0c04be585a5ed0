/**
 * The command `ids`: makes new pets get ids from a given number on, for example after a restore.
 */

import process from "node:process";
import { parsePetId } from "../../core/pets/pet.ts";
import { PETS } from "../storage/transfer.ts";
import {
  parseArguments,
  printable,
  PROGRAM,
  UsageError,
} from "./command_line.ts";
import { readConfig } from "./config.ts";
import { describeDatabase, openTransfer } from "./open_storage.ts";

const HELP = `ids: makes new pets get ids from a given number on

Usage:    ${PROGRAM} ids --from N
Example:  ${PROGRAM} ids --from 50000

  --from N    the id of the next pet; it must be above all ids that pets have had

Use it after a restore: otherwise new pets get ids that lost pets had. Servers may keep running.
DATABASE_URL names the database (sqlite:petstore.db), as it does for start.
`;

/** Runs the command with the arguments that follow `ids`. */
export async function runIds(args: readonly string[]): Promise<void> {
  const { values } = parseArguments(args, { from: { type: "string" } });
  if (values.help || values.from === undefined) {
    return void process.stdout.write(HELP);
  }
  const from = parsePetId(values.from);
  if (from === undefined) {
    throw new UsageError(
      "Cannot read --from: it must be an id, from 1 to 9223372036854775807",
    );
  }
  const { database } = readConfig(process.env);
  if (database.kind === "memory") {
    throw new Error(
      "Cannot set ids: DATABASE_URL is memory:, whose pets are lost when the server ends",
    );
  }
  const transfer = await openTransfer(database, "read"); // creates no tables
  try {
    // Pets that were added by hand may have higher ids than the table ever assigned.
    const lastGiven = transfer.selectLastGiven(PETS);
    const sql = `SELECT coalesce(max(id), 0), (${lastGiven}) FROM pets`;
    const [row] = await transfer.read(PETS, sql);
    const [greatest, given] = row as [bigint, bigint];
    const last = greatest > given ? greatest : given;
    if (from <= last) {
      throw new Error(
        `Cannot give ids from ${from}: the last id was ${last}, and ids are never reused`,
      );
    }
    await transfer.continueAfter(PETS, from - 1n);
  } finally {
    await transfer.close();
  }
  const name = describeDatabase(database);
  process.stdout.write(printable(`New pets in ${name} get ids from ${from}\n`));
}
