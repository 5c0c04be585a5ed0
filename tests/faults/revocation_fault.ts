import assert from "node:assert/strict";
import { test } from "node:test";
import { postgresStorage } from "../../adapters/postgres/mod.ts";
import { type IssuedKeys, issuedKeys } from "../../core/keys/issued_keys.ts";
import {
  inNewFolder,
  type RunningServer,
  runToEnd,
  startMain,
} from "../adapters/standalone/program.ts";
import { findBinaries } from "../support/postgres/binaries.ts";
import { sharedPostgres } from "../support/postgres/shared.ts";
import { pause } from "./load.ts";

const { missing } = await findBinaries();
const { newDatabase } = await sharedPostgres();
const options = { skip: missing, timeout: 120_000 };

/** What docs/postgresql.md promises, in ms. */
const PROMISED = 1000;
const KEYS = 24;
const KEYS_BY_COMMAND = 4;

test(
  "a key that is revoked on one server is refused on another within a second",
  options,
  async () => {
    const DATABASE_URL = await newDatabase();
    const storage = await postgresStorage(DATABASE_URL);
    try {
      const keys = issuedKeys(storage.apiKeys);
      await inNewFolder(async (cwd) => {
        const env = { DATABASE_URL, REQUEST_LOG: "off" };
        const server = await startMain({ cwd, env });
        try {
          const here = await Promise.all(
            Array.from({ length: KEYS }, (_, index) =>
              measure(server, keys, {
                // Spread over the time that a verdict is remembered.
                delay: 1500 + 97 * index,
                revoke: async (id) => void await keys.revoke(id),
              })),
          );
          const command = [];
          for (let i = 0; i < KEYS_BY_COMMAND; i++) {
            command.push(
              await measure(server, keys, {
                delay: 300,
                revoke: async (id) => {
                  const args = ["keys", "revoke", String(id)];
                  const { code, stderr } = await runToEnd(args, { cwd, env });
                  assert.equal(code, 0, stderr);
                },
              }),
            );
          }
          const asked = [...here, ...command].reduce(
            (sum, { accepted }) => sum + accepted,
            0,
          );
          console.log(
            `${KEYS} keys revoked on another server, refused after at most ${
              longest(here)
            } ms; ${KEYS_BY_COMMAND} by command, ${
              longest(command)
            } ms after it ended; ${asked} requests accepted before, 0 after`,
          );
        } finally {
          server.kill("SIGTERM");
          assert.equal(await server.exited, 0);
        }
      });
    } finally {
      await storage.close();
    }
  },
);

/** How a key came to its end. */
interface Measured {
  /** How many requests with it were accepted. */
  readonly accepted: number;
  /** How long after it was revoked the last request was sent that was accepted, in ms. */
  readonly delay: number;
}

/** Issues a key, asks a server with it all the time, and revokes it meanwhile. */
async function measure(
  server: RunningServer,
  keys: IssuedKeys,
  { delay, revoke }: {
    /** How long the key is used before, in ms. */
    readonly delay: number;
    readonly revoke: (id: number) => Promise<void>;
  },
): Promise<Measured> {
  const { key, record } = await keys.issue("measured");
  let accepted = 0;
  let lastAccepted = 0;
  let revoked: number | undefined;
  const revoking = pause(delay).then(() => revoke(record.id)).then(() => {
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
  return { accepted, delay: taken };
}

async function ask({ origin }: RunningServer, key: string): Promise<number> {
  const response = await fetch(`${origin}/v1/pets?limit=1`, {
    headers: { authorization: `Bearer ${key}` },
  });
  await response.body?.cancel();
  return response.status;
}

function longest(measured: readonly Measured[]): number {
  return Math.round(Math.max(...measured.map(({ delay }) => delay)));
}
