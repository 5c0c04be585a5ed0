/** Two PostgreSQL servers behind two addresses: a primary, and a standby that takes over. */

import { type Cluster, startCluster } from "../support/postgres/cluster.ts";
import { type Standby, startStandby } from "../support/postgres/standby.ts";
import { type Line, openLine } from "./line.ts";

/** A primary and its standby, which change places. */
export interface Pair {
  readonly primary: Cluster;
  readonly standby: Standby;
  /** Where the servers can be reached, whichever is the primary; as `HOST:PORT,HOST:PORT`. */
  readonly addresses: string;
  /** An address that leads to the primary, and one that leads to the standby; both move. */
  readonly moving: { readonly primary: string; readonly standby: string };
  /** Kills the primary, or cuts it off, and promotes the standby, which may have been stopped. */
  failOver(how: "kill" | "cut off"): Promise<void>;
  /** Where the former primary was there is a standby of the new one now, and it is waited for. */
  repair(): Promise<void>;
  close(): Promise<void>;
}

/**
 * How long what the primary sends is on its way to the standby, in ms: more than it takes to kill it,
 * so that a standby that is not waited for would lose what was acknowledged.
 */
const DISTANCE = 60;

/** Starts both. */
export async function startPair(): Promise<Pair> {
  let primary = await startCluster();
  let former: Cluster | undefined;
  const lines: Line[] = [];
  const closing: Promise<void>[] = [];
  const open = async (port: number): Promise<Line> => {
    const line = await openLine(port);
    lines.push(line);
    return line;
  };
  let standby: Standby;
  try {
    standby = await follow();
  } catch (error) {
    await primary.close();
    throw error;
  }
  // By turns the address of the primary and of the standby.
  const [one, other] = [await open(primary.port), await open(standby.port)];
  const moving = {
    primary: await open(primary.port),
    standby: await open(standby.port),
  };
  let [ofPrimary, ofStandby] = [one, other];

  /** A standby of the primary, at some distance of it. */
  async function follow(): Promise<Standby> {
    const line = await open(primary.port);
    const url = new URL(primary.url("postgres"));
    url.port = String(line.port);
    const standby = await startStandby({ ...primary, url: () => url.href });
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
    addresses: `127.0.0.1:${one.port},127.0.0.1:${other.port}`,
    moving: {
      primary: `127.0.0.1:${moving.primary.port}`,
      standby: `127.0.0.1:${moving.standby.port}`,
    },

    async failOver(how) {
      if (how === "kill") await primary.kill();
      else ofPrimary.cutOff();
      await standby.promote();
      moving.primary.leadTo(standby.port);
      former = primary;
      primary = standby;
      [ofPrimary, ofStandby] = [ofStandby, ofPrimary];
    },

    async repair() {
      // Comes back as it was, if it was cut off.
      ofStandby.heal();
      if (former) closing.push(former.close());
      standby = await follow();
      ofStandby.leadTo(standby.port);
      moving.standby.leadTo(standby.port);
    },

    async close() {
      await Promise.all(lines.map((line) => line.close()));
      await Promise.all(
        [primary, standby, former].map((each) => each?.close()),
      );
      await Promise.all(closing);
    },
  };
}
