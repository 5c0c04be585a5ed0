/** Tests on a PostgreSQL server of their own. */

import { test, type TestOptions } from "node:test";
import { skipping } from "../skipping.ts";
import { findBinaries } from "./binaries.ts";
import { type Cluster, type ClusterOptions, startCluster } from "./cluster.ts";

/** Why they are skipped; `false` if they are not. */
export const NO_CLUSTER: string | false = skipping(
  (await findBinaries()).missing,
);

/** Registers a test, which is given a server, and may leave it paused. */
export function testCluster(
  title: string,
  work: (cluster: Cluster) => Promise<void>,
  { skip = false, timeout = 150_000, ...options }:
    & ClusterOptions
    & TestOptions = {},
): void {
  test(title, { skip: NO_CLUSTER || skip, timeout }, async () => {
    const cluster = await startCluster(options);
    try {
      await work(cluster);
    } finally {
      cluster.resume();
      await cluster.close();
    }
  });
}
