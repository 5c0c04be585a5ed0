import { test } from "node:test";
import { runHistory } from "./histories.ts";
import { PATRONI } from "./patroni.ts";

test(
  `${PATRONI.name} keep every promise while the leader's agent hangs`,
  { skip: PATRONI.skip, timeout: 180_000 },
  () => runHistory(PATRONI, { faults: (name) => name.includes("agent hung") }),
);
