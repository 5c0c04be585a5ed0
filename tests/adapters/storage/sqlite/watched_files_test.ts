/** What happens to an SQLite file whose log or index is deleted while several processes use it. */
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import process from "node:process";
import { after, test } from "node:test";
import { skipping } from "../../../support/runtime.ts";
import { runSql } from "../../../support/sqlite.ts";
import { temporaryFiles } from "../../../support/temporary_directory.ts";
import { startStorage, type StorageProcess } from "../../../support/process.ts";

const LOCKED =
  /^failed unavailable Cannot open .*: another process keeps the file locked/;

const newPath = temporaryFiles();
const skip = skipping(
  process.platform === "win32" && "Windows deletes no open file",
);

const first = startStorage();
const second = startStorage();
const keys = startStorage();
after(() => Promise.all([first, second, keys].map((child) => child.end())));

for (const suffix of ["-wal", "-shm"]) {
  for (const isMadeAnew of [false, true]) {
    for (const whose of ["first", "second"]) {
      test(
        `nothing is lost if ${suffix} is deleted${
          isMadeAnew ? " and made anew" : ""
        } under two servers, and the ${whose} ends first`,
        { skip },
        async () => {
          const path = newPath();
          const answers: string[] = [];
          const send = async (child: StorageProcess, command: string) => {
            const got = await child.tell(command);
            answers.push(...got);
            return got.at(-1) ?? "it ended";
          };
          /** Does what the command `keys` does, twice, as far as it gets. */
          const issueAndRevoke = async (name: string) => {
            const opened = await send(keys, `open ${path} 50`);
            if (opened !== "opened") return opened;
            const [, id] = (await send(keys, `issue ${name}`)).split(" ");
            await send(keys, `revoke ${id}`);
            return await send(keys, "close");
          };

          for (const server of [first, second]) {
            assert.equal(await send(server, `open ${path}`), "opened");
            await send(server, "create 5 2");
          }
          assert.equal(await issueAndRevoke("early"), "closed");
          rmSync(path + suffix);
          const soon = await issueAndRevoke("soon");
          for (const server of [first, second]) {
            await send(server, "create 3 1");
          }
          const problems: string[] = [];
          const findProblems = async () => {
            problems.push(
              await send(first, "ping"),
              await send(second, "ping"),
            );
          };
          await findProblems(); // From here on everything is saved.
          if (isMadeAnew) {
            query(path, "SELECT count(*) FROM pets");
            await findProblems();
          }
          const late = await issueAndRevoke("late");
          const [one, other] = whose === "first"
            ? [first, second]
            : [second, first];
          assert.equal(await send(one, "close"), "closed");
          problems.push(await send(other, "ping"));
          await issueAndRevoke("later");
          assert.equal(await send(other, "close"), "closed");
          assert.equal(await issueAndRevoke("last"), "closed");

          assert.deepEqual(query(path, "PRAGMA integrity_check"), ["ok"]);
          const stored = [
            ...query(path, "SELECT 'created ' || id || ' ' || name FROM pets"),
            ...query(
              path,
              "SELECT 'issued ' || id || ' ' || name FROM api_keys",
            ),
            ...query(
              path,
              "SELECT 'revoked ' || id FROM api_keys WHERE revoked > 0",
            ),
          ];
          const acknowledged = answers.filter((answer) =>
            /^(?:created|issued|revoked) /.test(answer)
          );
          assert.ok(acknowledged.length >= 14);
          assert.deepEqual(
            acknowledged.filter((answer) => !stored.includes(answer)),
            [],
          );
          for (const problem of problems) {
            assert.match(problem, /^failed unavailable .*restart this process/);
          }
          assert.match(soon, LOCKED);
          const advice =
            `, and .*${suffix} is missing: restart that process first$`;
          assert.match(soon, RegExp(advice));
          // Two servers that meet the query with its new -shm at once both close the file.
          const mayOpen = suffix === "-shm" && isMadeAnew;
          if (late !== "closed" || !mayOpen) assert.match(late, LOCKED);
        },
      );
    }
  }
}

/** The first column of a query. */
function query(path: string, text: string): readonly unknown[] {
  return runSql(path, text).map((row) => Object.values(row)[0]);
}
