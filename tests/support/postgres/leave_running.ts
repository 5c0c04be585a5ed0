/**
 * Starts a server, pauses it, tells where it is, and waits to be killed.
 *
 * @module
 */

import { startCluster } from "./cluster.ts";

const cluster = await startCluster();
await cluster.pause();
console.log(JSON.stringify({ pid: cluster.pid, folder: cluster.folder }));
setInterval(() => {}, 60_000);
