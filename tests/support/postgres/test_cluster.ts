/** Tests on a PostgreSQL server of their own. */

import type { TestOptions } from "node:test";
import { skipping } from "../skipping.ts";
import { findBinaries } from "./binaries.ts";
import { type Cluster, type ClusterOptions, startCluster } from "./cluster.ts";

/** Why they are skipped; `false` if they are not. */
export const NO_CLUSTER: string | false = skipping(
  (await findBinaries()).missing,
);

/** The options of such a test. */
export const ON_CLUSTER: TestOptions = { skip: NO_CLUSTER, timeout: 150_000 };

/** Makes a test of `work`, which is given a server, and may leave it paused. */
export function withCluster(
  work: (cluster: Cluster) => Promise<void>,
  options?: ClusterOptions,
): () => Promise<void> {
  return async () => {
    const cluster = await startCluster(options);
    try {
      await work(cluster);
    } finally {
      cluster.resume();
      await cluster.close();
    }
  };
}
