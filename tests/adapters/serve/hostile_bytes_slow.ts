/** Bytes meant to confuse, sent to every runtime, and to Bun with a database. */
import { hostileBytesContract } from "../../contract/register.ts";
import { onEveryRuntime } from "../../support/servers/start.ts";
import { temporaryFiles } from "../../support/temporary_directory.ts";

const newPath = temporaryFiles();

/**
 * If a create and any next request come in one packet, Bun closes the connection while the create waits
 * for the disk: the pet is added, and no answer comes (docs/reliability.md).
 */
const BROKEN_ON_BUN: readonly string[] = [
  "a create with a length twice is never two requests",
  "a create with chunks after a tab, in mixed case is one request",
  "a create with a chunk with extensions is one request",
  "a create with a trailer that claims a length is never two requests",
  "a create with 80 fields is one request",
  "an offer of HTTP/2 by Upgrade is ignored, except by Deno, which refuses it if there is a body",
];

onEveryRuntime("bytes meant to confuse", (name, open) => {
  hostileBytesContract(name, open);
  if (name !== "bun") return;
  hostileBytesContract(
    name,
    (limits) => open({ ...limits, database: newPath() }),
    {
      name: "bun with SQLite",
      broken: BROKEN_ON_BUN,
    },
  );
});
