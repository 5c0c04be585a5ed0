import { test } from "node:test";
import { runHistory } from "./histories.ts";
import { AGENT_HUNG, PATRONI } from "./patroni.ts";

test(
  `${PATRONI.name} keep every promise while the leader's agent hangs`,
  { skip: PATRONI.skip, timeout: 180_000 },
  (t) => runHistory(t, PATRONI, { faults: [AGENT_HUNG] }),
);
