import { test } from "node:test";
import { runHistory } from "./histories.ts";
import { TOPOLOGIES } from "./topologies.ts";

for (const topology of Object.values(TOPOLOGIES)) {
  const { name, skip } = topology;
  test(
    `${name} keep every promise amid faults`,
    { skip, timeout: 300_000 },
    (t) => runHistory(t, topology),
  );
}
