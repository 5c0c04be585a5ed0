import { test } from "node:test";
import { runHistory } from "./histories.ts";
import { AGENT_HUNG, PATRONI } from "./patroni.ts";
import { TOPOLOGIES } from "./topologies.ts";

for (const topology of [...Object.values(TOPOLOGIES), PATRONI]) {
  const { name, skip } = topology;
  // The others of Patroni take minutes: `histories_long.ts` has them.
  const options = topology === PATRONI ? { faults: [AGENT_HUNG] } : {};
  test(
    `${name} keep every promise amid faults`,
    { skip, timeout: 300_000 },
    (t) => runHistory(t, topology, options),
  );
}
