/** Two PostgreSQL servers behind two addresses: a primary, and a standby that takes over. */

import { test } from "node:test";
import { type Cluster, startCluster } from "../support/postgres/cluster.ts";
import {
  missingStandby,
  type Standby,
  startStandby,
} from "../support/postgres/standby.ts";
import { skipping } from "../support/skipping.ts";
import { type Line, openLine } from "./line.ts";

/** A primary and its standby, which change places. */
export interface Pair {
  readonly primary: Cluster;
  readonly standby: Standby;
  /** Where the primary can be reached, and the standby, at the beginning; as `HOST:PORT`. */
  readonly addresses: readonly [string, string];
  /** Kills the primary with all its processes, and promotes the standby. */
  failOver(): Promise<void>;
  /** Where the killed primary was there is a standby of the new one now, and it is waited for. */
  repair(): Promise<void>;
}

const skip = skipping(await missingStandby());

/** Registers a test, which is given two servers, and the address of a new database. */
export function testPair(
  title: string,
  work: (pair: Pair, url: string) => Promise<void>,
): void {
  test(title, { skip, timeout: 200_000 }, async () => {
    const pair = await startPair();
    try {
      const { pathname } = new URL(await pair.primary.newDatabase());
      await work(pair, `postgres://postgres@${pair.addresses}${pathname}`);
    } finally {
      await pair.close();
    }
  });
}

/**
 * How long what the primary sends is on its way to the standby, in ms: more than it takes to kill it,
 * so that a standby that is not waited for would lose what was acknowledged.
 */
const DISTANCE = 200;

async function startPair(): Promise<Pair & { close(): Promise<void> }> {
  let primary = await startCluster();
  const replication: Line[] = [];
  const closing: Promise<void>[] = [];
  let standby: Standby;
  try {
    standby = await follow();
  } catch (error) {
    await primary.close();
    throw error;
  }
  // By turns the address of the primary and of the standby.
  const lines = [await openLine(primary.port), await openLine(standby.port)];
  let places = [...lines];

  /** A standby of the primary, at some distance of it. */
  async function follow(): Promise<Standby> {
    const line = await openLine(primary.port);
    replication.push(line);
    const url = new URL(primary.url("postgres"));
    url.port = String(line.port);
    const distant = { ...primary, url: () => url.href };
    const standby = await startStandby(distant);
    line.delay(DISTANCE);
    return standby;
  }

  return {
    get primary() {
      return primary;
    },
    get standby() {
      return standby;
    },
    addresses: [`127.0.0.1:${lines[0]?.port}`, `127.0.0.1:${lines[1]?.port}`],

    async failOver() {
      const killed = primary;
      await killed.kill();
      await standby.promote();
      primary = standby;
      places = places.toReversed();
      closing.push(killed.close());
    },

    async repair() {
      standby = await follow();
      places[1]?.leadTo(standby.port);
    },

    async close() {
      await Promise.all([...lines, ...replication].map((line) => line.close()));
      await Promise.all([primary.close(), standby.close(), ...closing]);
    },
  };
}
