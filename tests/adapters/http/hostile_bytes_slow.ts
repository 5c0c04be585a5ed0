/** Bytes meant to confuse, sent to every runtime, and to Bun with a database. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { HOSTILE_BYTES_CLAUSES } from "../../contract/hostile_bytes_contract.ts";
import { registerClauses } from "../../contract/register.ts";
import { temporaryFiles } from "../../support/temporary_directory.ts";
import { REX_JSON } from "../../support/pets.ts";
import { until } from "../../support/time.ts";
import { onEveryRuntime } from "../../support/process.ts";
import {
  answerTo,
  openWire,
  rawRequest,
  WITH_KEY,
} from "../../support/wire.ts";

const newPath = temporaryFiles();
const LIST = rawRequest("GET /v1/pets", [WITH_KEY]);
const CREATE = rawRequest("POST /v1/pets", [WITH_KEY], REX_JSON);

onEveryRuntime("bytes meant to confuse", (name, open) => {
  registerClauses(
    (title, check) => test(`${name}: ${title}`, check),
    HOSTILE_BYTES_CLAUSES,
    open,
  );
  if (name !== "bun") return;
  const openOnDisk = (limits = {}) => open({ ...limits, database: newPath() });
  registerClauses(
    (title, check) => test(`bun with SQLite: ${title}`, check),
    HOSTILE_BYTES_CLAUSES,
    openOnDisk,
  );

  // Seen in Bun 1.4; docs/reliability.md tells clients what to do. If this fails, that can go.
  test("bun closes a connection if a request comes while a create waits for the disk", async (t) => {
    const server = await openOnDisk();
    const wire = await openWire(t, server, CREATE + LIST);
    assert.equal(await wire.rest(), "");
    // The connection may be closed before the pet is on the disk.
    await until("the pet is listed", async () => {
      const { body } = await answerTo(server.port, LIST);
      return body.includes('"name":"Rex"');
    });
  });
});
