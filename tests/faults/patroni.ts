/** Pet stores on a cluster that Patroni manages, and the faults that both must survive. */

import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import {
  missingPatroni,
  type PatroniNode,
  startPatroni,
  TTL,
} from "../support/postgres/patroni.ts";
import { findRuntimes, skipping } from "../support/runtime.ts";
import { type Fault, kill } from "./faults.ts";
import { isAdded } from "./recorder.ts";
import { longest, onPostgres, type Topology } from "./topologies.ts";

/** Time within which each server has left an old primary, in ms: it looks for a new one once a second. */
const MOVING = 3000;
/** Time from a promotion to the next pet that is added, in ms. */
const RECOVERY = 6000;

const runtimes = findRuntimes();
const missing = runtimes.find(({ missing }) => missing !== undefined)?.missing;

/** A server on each runtime with an address of all nodes, and one behind HAProxy. */
export const PATRONI: Topology = {
  name: "3 servers on 3 nodes of Patroni, and one behind HAProxy",
  skip: missing ?? skipping(await missingPatroni()),
  async start(options, atEnd) {
    const cluster = await startPatroni();
    atEnd(cluster.close);
    const { nodes, proxy } = cluster.urls;
    const urls = [nodes, nodes, nodes, proxy];
    const place = await onPostgres(urls, options, atEnd, { runtimes });
    const [a, ...others] = place.servers;
    assert.ok(a);

    /** Breaks the leader, waits for the next one, and mends the former. */
    const failOver = (
      { breakIt, mend, meanwhile, isSplit = false }: {
        /** By its end nobody else may have been promoted. */
        readonly breakIt: (leader: PatroniNode) => Promise<void>;
        readonly mend?: (former: PatroniNode) => void | Promise<void>;
        /** Begins with the promotion. */
        readonly meanwhile?: Fault;
        readonly isSplit?: boolean;
      },
    ): Fault =>
    async (recorder) => {
      const former = await cluster.leader();
      await breakIt(former);
      await recorder.record("failover", async () => {
        await cluster.untilPromoted(former);
        const promoted = performance.now();
        const also = meanwhile?.(recorder);
        // A server that is killed meanwhile takes longer.
        const recovered = others.map(async ({ name }) => {
          await recorder.until((each) => isAdded(each) && each.server === name);
          const ms = Math.round(performance.now() - promoted);
          assert.ok(ms < RECOVERY, `${name} added no pet for ${ms} ms`);
          return `${name} ${ms}`;
        });
        const times = await Promise.all(recovered);
        console.log(`First pet after the promotion: ${times} ms`);
        await Promise.all([also, pause(MOVING)]);
      }, isSplit);
      await recorder.more(20);
      await mend?.(former);
      await cluster.untilWhole();
    };

    return {
      ...place,
      longest: longest(3),
      faults: {
        "the leader's agent hung, a server killed": failOver({
          async breakIt(leader) {
            await leader.pause("agent");
            await pause(1000 * (TTL - 8));
          },
          mend: (former) => former.resume(),
          meanwhile: kill(a),
          isSplit: true,
        }),
        "the leader killed": failOver({
          breakIt: (leader) => leader.kill(),
          mend: (former) => former.start(),
        }),
        "the leader frozen and thawed": failOver({
          breakIt: (leader) => leader.pause("all"),
          mend: (former) => former.resume(),
        }),
        "a switchover": failOver({
          // It waits for the new leader.
          breakIt: async () => void cluster.switchOver(),
        }),
        "a standby lost": async (recorder) => {
          const standby = await cluster.standby();
          await standby.kill();
          await recorder.more(20);
          await standby.start();
          await cluster.untilWhole();
        },
        "etcd stopped": async (recorder) => {
          await cluster.etcd.kill();
          await pause(1000 * TTL + 5000);
          await recorder.more(20);
          await cluster.etcd.start();
          await cluster.untilWhole();
        },
      },
    };
  },
};
