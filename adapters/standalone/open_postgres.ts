/**
 * Opening PostgreSQL at the start of a program, which an operator is watching.
 *
 * @module
 */

import process from "node:process";
import { describeHosts, parsePostgresUrl } from "../postgres/address.ts";
import { wrongSetting } from "./config.ts";

/** How long to wait in silence, in ms. */
const SILENCE = 1000;

/**
 * Opens a database, and says on standard error what it is waiting for if that takes long.
 *
 * @param setting what the address comes from, for messages: `DATABASE_URL`.
 * @throws {ConfigError} if the address is wrong.
 */
export async function openPostgres<T>(
  setting: string,
  url: string,
  open: (url: string) => Promise<T>,
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const hosts = describeHosts(parsePostgresUrl(url).hosts);
    timer = setTimeout(
      () =>
        process.stderr.write(
          `PostgreSQL at ${hosts} does not answer yet: waiting for about 10 s\n`,
        ),
      SILENCE,
    );
    return await open(url);
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw wrongSetting(setting, cause);
  } finally {
    clearTimeout(timer);
  }
}
