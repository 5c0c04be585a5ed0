/** Why the tables of a database are not used. */

/** Says that a database that is only read lacks the tables. */
export const NO_TABLES =
  "it has no tables of this program; nothing was changed";

/** @throws {Error} if the tables have another version than this program knows. */
export function assertVersion(version: number, known: number): void {
  if (version === known) return;
  throw new Error(
    `its tables are version ${version}, and this program knows version ${known}; ` +
      "use the version of the program that made them",
  );
}
