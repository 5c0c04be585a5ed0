import assert from "node:assert/strict";
import { test } from "node:test";
import {
  describe,
  type FileFacts,
  type Files,
  type Found,
  inspect,
  mayRead,
  nextState,
  NOTICE_TIME,
  type State,
} from "../../../../adapters/storage/sqlite/files.ts";

const file = (identity: string, size = 1000, changed = 5n): FileFacts => ({
  identity,
  size,
  changed,
});
const OPENED: Files = {
  main: file("main"),
  log: file("log"),
  index: file("index"),
  isLogBlank: false,
};
const OTHER = file("other");
const WELL: Found = {
  main: "in place",
  log: "in place",
  index: "in place",
  logVersion: "1000:5",
};

/** What is there now, how long its index says the log is, and what differs from `WELL`. */
const FINDINGS: readonly (readonly [
  what: string,
  now: Partial<Files>,
  logSize: number,
  found: Partial<Found>,
])[] = [
  ["nothing has changed", {}, 1000, {}],
  ["the main file has grown", { main: file("main", 9000) }, 1000, {}],
  ["the main file is gone", { main: undefined }, 1000, { main: "gone" }],
  ["there is another main file", { main: OTHER }, 1000, { main: "replaced" }],
  ["the main file is empty", { main: file("main", 0) }, 1000, {
    main: "emptied",
  }],
  [
    "there is another main file, and it is empty",
    {
      main: file("other", 0),
    },
    1000,
    { main: "replaced" },
  ],
  ["the main file has shrunk", { main: file("main", 500) }, 1000, {}],
  ["the log is gone", { log: undefined, isLogBlank: false }, 1000, {
    log: "gone",
    logVersion: "0:undefined",
  }],
  ["there is another log", { log: OTHER }, 1000, { log: "replaced" }],
  [
    "there is another log, and it is empty",
    {
      log: file("other", 0),
      isLogBlank: true,
    },
    1000,
    { log: "replaced", logVersion: "0:5" },
  ],
  ["the log is empty", { log: file("log", 0), isLogBlank: true }, 1000, {
    log: "emptied",
    logVersion: "0:5",
  }],
  ["the log is a byte short", { log: file("log", 999) }, 1000, {
    log: "emptied",
    logVersion: "999:5",
  }],
  ["the log begins with zeros", { isLogBlank: true }, 1000, { log: "emptied" }],
  [
    "the log is longer than its index says",
    { log: file("log", 2000, 6n) },
    1000,
    {
      logVersion: "2000:6",
    },
  ],
  [
    "the log is empty, and nothing in it is needed",
    {
      log: file("log", 0),
      isLogBlank: true,
    },
    0,
    { logVersion: "0:5" },
  ],
  [
    "the log begins with zeros, and nothing in it is needed",
    {
      isLogBlank: true,
    },
    0,
    {},
  ],
  ["the index is gone", { index: undefined }, 1000, { index: "gone" }],
  ["there is another index", { index: OTHER }, 1000, { index: "replaced" }],
  ["the index is a byte short", { index: file("index", 999) }, 1000, {
    index: "emptied",
  }],
  ["the index has grown", { index: file("index", 2000) }, 1000, {}],
  [
    "everything is gone",
    {
      main: undefined,
      log: undefined,
      index: undefined,
    },
    1000,
    {
      main: "gone",
      log: "gone",
      index: "gone",
      logVersion: "0:undefined",
    },
  ],
];

for (const [what, now, logSize, found] of FINDINGS) {
  const said = Object.entries(found).map(([name, is]) => `${name} ${is}`);
  test(`inspect finds ${said.join(", ") || "nothing"} if ${what}`, () => {
    const actual = inspect(OPENED, { ...OPENED, ...now }, logSize);
    assert.deepEqual(actual, { ...WELL, ...found });
  });
}

test("inspect finds in place what was missing when the file was opened", () => {
  const without = { ...OPENED, log: undefined, index: undefined };
  const { log, index } = inspect(without, without, 0);
  assert.deepEqual([log, index], ["in place", "in place"]);
});

const NOW = 7000;
const IN_PLACE = lost("in place");
/** So long ago that all servers know it. */
const MAIN_GONE = lost("main gone", { since: NOW - NOTICE_TIME });
const MAIN_REPLACED: State = { ...MAIN_GONE, kind: "main replaced" };
const LOG_GONE = lost("log gone", { suffix: "-wal" });
const LOG_REPLACED = lost("log replaced", { suffix: "-shm" });
const LOG_EMPTIED = lost("log emptied", { suffix: "-wal" });
const EARLIER = { ...LOG_EMPTIED, since: 3 };
const WRITTEN = "1000:6";
const MAIN_EMPTIED = lost("main emptied");

/** A state that was found now, with what `WELL` has. */
function lost(kind: State["kind"], more: Partial<State> = {}): State {
  const { logVersion } = WELL;
  return {
    kind,
    suffix: "",
    since: NOW,
    logVersion,
    isLogOurs: true,
    ...more,
  };
}

/** A state, what differs from `WELL` in what is found, and the next state. */
const STEPS: readonly (readonly [State, Partial<Found>, State])[] = [
  [IN_PLACE, {}, IN_PLACE],
  [IN_PLACE, { main: "gone" }, lost("main gone")],
  [IN_PLACE, { main: "replaced" }, lost("main replaced")],
  [IN_PLACE, { log: "gone" }, LOG_GONE],
  [IN_PLACE, { index: "gone" }, lost("log gone", { suffix: "-shm" })],
  [
    IN_PLACE,
    { log: "replaced" },
    lost("log replaced", { suffix: "-wal" }),
  ],
  [IN_PLACE, { index: "replaced" }, LOG_REPLACED],
  [IN_PLACE, { log: "gone", index: "replaced" }, LOG_REPLACED],
  [IN_PLACE, { log: "emptied" }, LOG_EMPTIED],
  [IN_PLACE, { index: "emptied" }, lost("log emptied", { suffix: "-shm" })],
  // The log waits for the main file, unless it would destroy it.
  [IN_PLACE, { main: "gone", log: "gone" }, lost("main gone")],
  [IN_PLACE, { main: "gone", log: "emptied" }, LOG_EMPTIED],
  [IN_PLACE, { main: "emptied" }, MAIN_EMPTIED],
  [IN_PLACE, { main: "emptied", log: "emptied" }, MAIN_EMPTIED],
  [LOG_GONE, { main: "emptied", log: "gone" }, MAIN_EMPTIED],
  [MAIN_EMPTIED, {}, MAIN_EMPTIED],
  [MAIN_GONE, {}, IN_PLACE],
  [MAIN_GONE, { main: "gone" }, MAIN_GONE],
  [MAIN_GONE, { main: "replaced" }, MAIN_REPLACED],
  [MAIN_REPLACED, { main: "gone" }, MAIN_GONE],
  [MAIN_GONE, { log: "gone" }, LOG_GONE],
  // Another program uses our log, or a log of its own with our index.
  [
    MAIN_REPLACED,
    { logVersion: WRITTEN },
    lost("log replaced", {
      logVersion: WRITTEN,
    }),
  ],
  [
    MAIN_REPLACED,
    { main: "replaced", logVersion: WRITTEN },
    lost("log replaced", { logVersion: WRITTEN }),
  ],
  [
    IN_PLACE,
    { main: "replaced", log: "replaced" },
    lost("log replaced", { suffix: "-wal" }),
  ],
  // It uses nothing of ours.
  [
    MAIN_REPLACED,
    { main: "replaced", log: "replaced", index: "replaced" },
    MAIN_REPLACED,
  ],
  [MAIN_GONE, { main: "gone", log: "gone", logVersion: "0:" }, MAIN_GONE],
  // Another server has moved the log into the old file, or had not missed the main file.
  [MAIN_GONE, { main: "gone", logVersion: "0:6" }, {
    ...MAIN_GONE,
    logVersion: "0:6",
  }],
  [
    lost("main gone"),
    { main: "gone", logVersion: WRITTEN },
    lost("main gone", { logVersion: WRITTEN, isLogOurs: false }),
  ],
  [lost("main gone"), { logVersion: WRITTEN }, {
    ...IN_PLACE,
    logVersion: WRITTEN,
  }],
  // A log that is back may not be the one that others used meanwhile.
  [LOG_GONE, {}, LOG_GONE],
  [LOG_GONE, { main: "gone", log: "gone" }, LOG_GONE],
  [LOG_GONE, { index: "replaced" }, LOG_REPLACED],
  [LOG_GONE, { log: "emptied" }, LOG_EMPTIED],
  [LOG_REPLACED, {}, LOG_REPLACED],
  [LOG_REPLACED, { log: "gone" }, LOG_REPLACED],
  [EARLIER, {}, EARLIER],
  [EARLIER, { log: "emptied" }, EARLIER],
  [EARLIER, { log: "replaced" }, EARLIER],
];

for (const [state, found, next] of STEPS) {
  const said = Object.entries(found).map(([name, is]) => `${name} ${is}`);
  test(`nextState makes ${next.kind} of ${state.kind} and ${said.join(", ") || "nothing wrong"}`, () => {
    assert.deepEqual(nextState(state, { ...WELL, ...found }, NOW), next);
  });
}

test("mayRead allows reads unless something happened to the log", () => {
  const states = STEPS.map(([, , next]) => next);
  for (const state of states) {
    const isLost = /^log|emptied$/.test(state.kind);
    assert.equal(mayRead(state), !isLost, state.kind);
  }
});

test("describe names the file, and tells what to do", () => {
  const described = (state: State) => describe("/pets.db", state);
  assert.match(described(MAIN_GONE), /^\/pets\.db was deleted.* save the pets/);
  assert.match(described(MAIN_EMPTIED), /^\/pets\.db was emptied.* restore/);
  assert.match(described(LOG_GONE), /^\/pets\.db-wal was deleted.* restart/);
  assert.match(described(LOG_REPLACED), /^\/pets\.db-shm was replaced.* end/);
  const written = lost("log replaced");
  assert.match(
    described(written),
    /^\/pets\.db was replaced.* restore a backup/,
  );
  assert.match(described(LOG_EMPTIED), /^\/pets\.db-wal was emptied.* run/);
});
