import assert from "node:assert/strict";
import { postgresStorage } from "../../adapters/postgres/mod.ts";
import { type IssuedKeys, issuedKeys } from "../../core/keys/issued_keys.ts";
import {
  type RunningServer,
  startMain,
  testInFolder,
} from "../adapters/standalone/program.ts";
import { sharedPostgres } from "../support/postgres/shared.ts";
import { pause } from "./load.ts";

const { skip, newDatabase } = await sharedPostgres();

/** What docs/postgresql.md promises, in ms. */
const PROMISED = 1000;
const KEYS = 24;

testInFolder(
  "a key that is revoked on one server is refused on another within a second",
  async (cwd) => {
    const DATABASE_URL = await newDatabase();
    const storage = await postgresStorage(DATABASE_URL);
    try {
      const keys = issuedKeys(storage.apiKeys);
      const env = { DATABASE_URL, REQUEST_LOG: "off" };
      const server = await startMain({ cwd, env });
      // Spread over the time that a verdict is remembered.
      const delays = Array.from({ length: KEYS }, (_, i) => 1500 + 97 * i);
      try {
        await Promise.all(delays.map((delay) => measure(server, keys, delay)));
      } finally {
        assert.equal(await server.end(), 0);
      }
    } finally {
      await storage.close();
    }
  },
  { skip, timeout: 120_000 },
);

/** Issues a key, asks a server with it all the time, and revokes it after `delay` ms. */
async function measure(
  server: RunningServer,
  keys: IssuedKeys,
  delay: number,
): Promise<void> {
  const { key, record } = await keys.issue("measured");
  let accepted = 0;
  let lastAccepted = 0;
  let revoked: number | undefined;
  const revoking = pause(delay).then(() => keys.revoke(record.id)).then(() => {
    revoked = performance.now();
  });

  // It stays refused: so for a while longer than it takes.
  while (revoked === undefined || performance.now() < revoked + 2 * PROMISED) {
    const sent = performance.now();
    const status = await ask(server, key);
    assert.ok(status === 200 || status === 401, `${status}`);
    if (status === 200) {
      accepted++;
      lastAccepted = sent;
    }
    await pause(5);
  }
  await revoking;
  assert.ok(accepted > 0, "it was accepted before");
  const taken = Math.max(0, lastAccepted - revoked);
  assert.ok(taken <= PROMISED, `accepted ${taken} ms after it was revoked`);
}

async function ask({ origin }: RunningServer, key: string): Promise<number> {
  const response = await fetch(`${origin}/v1/pets?limit=1`, {
    headers: { authorization: `Bearer ${key}` },
  });
  await response.body?.cancel();
  return response.status;
}
