import assert from "node:assert/strict";
import { test } from "node:test";
import {
  grouped,
  type GroupedOptions,
} from "../../../adapters/storage/grouped.ts";
import {
  awaitedLater,
  nextTask,
  stopClock,
  turns,
} from "../../support/time.ts";

type Options = Partial<GroupedOptions<number, number>>;
type Send = GroupedOptions<number, number>["send"];

/** A queue whose groups are recorded, and end when the test says so unless it gives `send`. */
function recorded(options: Options = {}) {
  const sent: (readonly number[])[] = [];
  const answers: (() => void)[] = [];
  const {
    send = (group) =>
      new Promise<readonly number[]>((resolve) => {
        answers.push(() => resolve(group));
      }),
    ...limits
  } = options;
  const { run, close } = grouped({
    action: "read",
    maxGroup: 100,
    ...limits,
    send(group) {
      sent.push(group);
      return send(group);
    },
  });
  const answer = (group: number) => answers[group]?.();
  /** Answers all groups as they are sent, until these items have their results. */
  async function answerAll(items: readonly Promise<number>[]) {
    const results = Promise.all(items);
    let isOver = false;
    const over = results.finally(() => isOver = true);
    while (!isOver) {
      for (const answer of answers) answer();
      await nextTask();
    }
    return await over;
  }
  return { run, sent, answer, answerAll, close };
}

/** A queue of reads, which share a place if they are equal, and have four connections. */
const reads = (options: Options = {}) =>
  recorded({
    maxUnderWay: 4,
    sizeOf: (item) => item,
    ...options,
  });

const atOnce: Send = (group) => Promise.resolve(group);

/** A database that answers at once or, while it is slow, when the test says so. */
function slowable() {
  const answers: (() => void)[] = [];
  return {
    isSlow: false,
    send(group: readonly number[]): ReturnType<Send> {
      if (!this.isSlow) return atOnce(group);
      return new Promise((resolve) => answers.push(() => resolve(group)));
    },
    answer: () => answers.forEach((answer) => answer()),
  };
}

/** Sends as many items one by one as it takes until none waits for others. */
async function sendAlone(
  { run, sent }: Pick<ReturnType<typeof recorded>, "run" | "sent">,
): Promise<void> {
  let isAtOnce = false;
  for (let before = 0; before < 100 && !isAtOnce; before++) {
    const answer = run(1);
    isAtOnce = sent.length > before;
    await answer;
    await nextTask();
  }
  assert.ok(isAtOnce && sent.length > 1, `${sent.length} were sent`);
  sent.length = 0;
}

test("grouped gathers what arrives in a turn; equal items share a place", async () => {
  const { run, sent, answerAll } = reads({ maxUnderWay: 2 });
  const items = [run(1), run(2), run(1), run(3)];
  assert.deepEqual(sent, []);
  assert.deepEqual(await answerAll(items), [1, 2, 1, 3]);
  assert.deepEqual(sent, [[1, 2, 3]]);
  for (let turn = 0; turn < 20; turn++) await answerAll([run(1), run(2)]);
  for (let turn = 0; turn < 20; turn++) await answerAll([run(3), run(3)]);
  const expected = [...Array(20).fill([1, 2]), ...Array(20).fill([3])];
  assert.deepEqual(sent.slice(1), expected);
});

test("grouped gathers items that arrive in tasks of their own, as requests do", async () => {
  const { run, sent } = recorded({ send: atOnce });
  const inATask = (item: number) =>
    new Promise<number>((resolve) => setImmediate(() => resolve(run(item))));
  assert.deepEqual(await Promise.all([1, 2, 3].map(inATask)), [1, 2, 3]);
  assert.deepEqual(sent, [[1, 2, 3]]);
});

test("grouped sends an item at once while nothing gathers, and gathers what follows", async () => {
  const database = slowable();
  const queue = reads({ send: (group) => database.send(group) });
  const { run, sent } = queue;
  await sendAlone(queue);
  database.isSlow = true;
  const items = [run(1)];
  assert.deepEqual(sent, [[1]]);
  // They do not share the place of the one that was sent before.
  items.push(run(1), run(2), run(1));
  while (sent.length === 1) await nextTask();
  assert.deepEqual(sent, [[1], [1, 2]]);
  database.answer();
  assert.deepEqual(await Promise.all(items), [1, 1, 2, 1]);
  database.isSlow = false;
  const next = run(3);
  assert.equal(sent.length, 2, "items gathered lately, so it waits for others");
  await next;
});

test("grouped lets each 31st item of a single client wait, so that others can meet it", async () => {
  const queue = recorded({ send: atOnce });
  const { run, sent } = queue;
  /** In one turn, but one that is sent at once is settled before the other arrives. */
  async function sendTwo() {
    const first = run(1);
    for (let step = 0; step < 20; step++) await null;
    await Promise.all([first, run(2)]);
    await nextTask();
  }
  await sendAlone(queue);
  for (let i = 0; i < 31; i++) await sendTwo();
  const together = sent.findIndex(({ length }) => length === 2);
  assert.ok(together > 0 && together < 62, `${together}`);
  assert.deepEqual(
    sent.slice(0, together),
    Array(together / 2).fill([[1], [2]]).flat(),
  );
  const rest = sent.slice(together);
  assert.deepEqual(rest, Array(rest.length).fill([1, 2]));
});

test("grouped sends nothing at once that arrives in the turn in which a group ended", async () => {
  const { run, sent } = recorded({ send: atOnce });
  for (let before = 0; before < 100; before++) {
    const answer = run(1);
    assert.equal(sent.length, before);
    await answer;
  }
});

test("grouped has two groups under way, and more only once all but one take 100 ms", async (t) => {
  const { pass } = stopClock(t);
  const { run, sent, answer, answerAll } = reads();
  const answers = [run(1)];
  await turns();
  answers.push(run(2));
  await turns();
  assert.deepEqual(sent, [[1], [2]]);
  answers.push(run(3), run(4));
  await pass(80);
  assert.equal(sent.length, 2);
  await pass(20);
  assert.deepEqual(sent[2], [3, 4]);
  answers.push(run(5));
  await turns();
  assert.deepEqual(sent[3], [5]);
  answers.push(run(6));
  await pass(300);
  answers.push(run(7)); // The last group has not taken longer.
  assert.equal(sent.length, 4, "that is as many as there are connections");
  answer(2);
  await turns();
  assert.deepEqual(sent[4], [6, 7]);
  await answerAll(answers);
});

test("grouped counts a group that ended as neither prompt nor hanging", async (t) => {
  const { pass } = stopClock(t);
  const { run, sent, answer, answerAll } = reads();
  const answers: Promise<number>[] = [];
  async function arrive(...items: number[]) {
    for (const item of items) {
      answers.push(run(item));
      await turns();
    }
  }
  await arrive(1, 2);
  await pass(100);
  await arrive(3);
  answer(2); // the prompt one
  await arrive(4, 5);
  assert.deepEqual(sent, [[1], [2], [3], [4], [5]]);
  answer(0); // a hanging one
  await arrive(6);
  assert.equal(sent.length, 5, "two are prompt");
  await answerAll(answers);
});

test("grouped fills groups up to their size; what is larger goes alone", async () => {
  const { run, sent, answerAll } = reads({ maxGroup: 10 });
  const items = [4, 6, 5, 20, 2].map(run);
  await turns();
  assert.deepEqual(sent, [[4, 6], [5]], "two groups may be under way");
  await answerAll(items);
  assert.deepEqual(sent, [[4, 6], [5], [20], [2]]);
});

test("grouped rejects an item without a size, as in plain JavaScript, and no other", async () => {
  const { run, answerAll } = reads();
  const wrong = awaitedLater(run(1n as never));
  assert.deepEqual(await answerAll([run(2)]), [2]);
  await assert.rejects(wrong, TypeError);
});

test("grouped with one group under way gathers for a turn; a full group goes at once", async () => {
  const { run, sent } = recorded({ maxGroup: 2, send: atOnce });
  const creates = [run(1)];
  assert.deepEqual(sent, []);
  creates.push(run(2), run(3));
  assert.deepEqual(sent, [[1, 2]]);
  assert.deepEqual(await Promise.all(creates), [1, 2, 3]);
  assert.deepEqual(sent, [[1, 2], [3]]);
});

test("grouped sends any number of full groups in one turn", async () => {
  const { run, sent } = recorded({ maxGroup: 2, send: atOnce });
  let isOver = false;
  setImmediate(() => isOver = true);
  await Promise.all([run(1), run(2)]);
  await Promise.all([run(3), run(4)]);
  assert.deepEqual(sent, [[1, 2], [3, 4]]);
  assert.ok(!isOver);
});

test("grouped sends what waits together with what arrives in the turn of an answer", async () => {
  const { run, sent, answer, answerAll } = recorded();
  const first = run(1);
  await turns();
  const others = [run(2)];
  answer(0);
  await first;
  others.push(run(3));
  await answerAll(others);
  assert.deepEqual(sent, [[1], [2, 3]]);
});

test("grouped fails a group that fails, or an item with an error or without a result", async () => {
  const { run } = recorded({
    maxGroup: 2,
    send(group) {
      if (group.includes(3)) return Promise.reject(new Error("rejected"));
      if (group.includes(5)) throw new Error("thrown");
      if (group.includes(7)) return Promise.resolve([new Error("own"), 8]);
      return Promise.resolve(group.slice(0, 1));
    },
  });
  const items = [1, 2, 3, 4, 5, 6, 7, 8, 9].map(run);
  const outcomes = await Promise.all(
    items.map((item) => item.catch(({ message }) => message)),
  );
  assert.deepEqual(outcomes, [
    ...[1, "There is no result"],
    ...["rejected", "rejected"],
    ...["thrown", "thrown"],
    ...["own", 8],
    9,
  ]);
});

test("grouped refuses more than 10000 different items that wait, until there is room", async () => {
  const { run } = recorded({ send: atOnce });
  // The first hundred do not wait.
  const accepted = Array.from({ length: 10_100 }, (_, i) => run(i));
  await assert.rejects(run(1), {
    kind: "unavailable",
    message: "Cannot read: overloaded (10000 are waiting)",
    retryAfter: 1,
  });
  assert.equal(await run(200), 200, "it shares the place of one that waits");
  await Promise.all(accepted);
  await run(1);
});

test("grouped refuses items that wait 2 s for a group that hangs, and goes on", async (t) => {
  const { pass } = stopClock(t);
  const { run, sent, answerAll } = recorded();
  for (const round of [0, 2]) {
    const first = run(1);
    await turns();
    const late: unknown[] = [];
    run(2).catch(({ kind, message, retryAfter }) =>
      late.push({ kind, message, retryAfter })
    );
    await pass(2000);
    const inTime = run(3);
    assert.deepEqual(late, [], `${round}`);
    await pass(20);
    const message = "Cannot read: overloaded (waited 2000 ms)";
    assert.deepEqual(
      late,
      [{ kind: "unavailable", message, retryAfter: 1 }],
      `${round}`,
    );
    await answerAll([first, inTime]);
    assert.deepEqual(sent.slice(round), [[1], [3]], `${round}`);
  }
});

test("grouped has no timer while nothing is under way, and none once it is closed", async (t) => {
  const { pass, isTicking } = stopClock(t);
  const { run, close } = recorded({ send: atOnce });
  for (const ends of [() => pass(20), close]) {
    await run(1);
    await turns();
    assert.ok(isTicking(), `${ends}`);
    await ends();
    assert.ok(!isTicking(), `${ends}`);
  }
});

test("grouped accepts an item however slow groups were, and refuses it once it is late", async (t) => {
  const { pass } = stopClock(t);
  const { run, answer, answerAll } = recorded({ maxGroup: 1 });
  const slow = run(0);
  await turns();
  await pass(5000);
  answer(0);
  await slow;
  const others = Array.from({ length: 100 }, (_, i) => run(i));
  await pass(2000);
  assert.equal((await answerAll(others)).length, 100);
});

test("grouped counts a turn that requests hold up as one tick of its clock", async () => {
  const { run, answerAll } = recorded();
  const first = run(1);
  await turns();
  const second = run(2);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2100);
  await new Promise((resolve) => setTimeout(resolve, 30));
  assert.deepEqual(await answerAll([first, second]), [1, 2]);
});

for (
  const [message, send] of Object.entries<Send>({
    rejected: () => Promise.reject(new Error("rejected")),
    own: () => Promise.resolve([new Error("own")]),
    "There is no result": () => Promise.resolve([]),
  })
) {
  test(`grouped fails an item that is sent at once: ${message}`, async () => {
    let sendNow = atOnce;
    const queue = recorded({ send: (group) => sendNow(group) });
    await sendAlone(queue);
    sendNow = send;
    const item = queue.run(5);
    assert.deepEqual(queue.sent, [[5]]);
    await assert.rejects(item, { message });
    sendNow = atOnce;
    assert.equal(await queue.run(6), 6);
  });
}

test("grouped settles an item that is sent at once before it is closed", async () => {
  const database = slowable();
  const queue = recorded({ send: (group) => database.send(group) });
  await sendAlone(queue);
  database.isSlow = true;
  const item = queue.run(5);
  assert.deepEqual(queue.sent, [[5]]);
  let isClosed = false;
  const closed = queue.close().then(() => isClosed = true);
  await turns();
  assert.equal(isClosed, false);
  database.answer();
  assert.equal(await item, 5);
  await closed;
});

test("grouped settles what it accepted before it is closed, and refuses the rest", async () => {
  const { run, close } = recorded({
    maxGroup: 2,
    async send(group) {
      await nextTask();
      return group;
    },
  });
  const settled: number[] = [];
  for (const item of [1, 2, 3, 4, 5]) run(item).then((it) => settled.push(it));
  await Promise.all([close(), close()]);
  assert.deepEqual(settled, [1, 2, 3, 4, 5]);
  await assert.rejects(run(6), {
    kind: "unavailable",
    message: "Cannot read: the storage is closed",
  });
  await close();
});

test("grouped can be closed if the last that wait are refused as too late", async (t) => {
  const { pass } = stopClock(t);
  const { run, answer, close } = recorded({ maxGroup: 1 });
  const first = run(1);
  const late = awaitedLater(assert.rejects(run(2), /waited 2000 ms/));
  await pass(2020);
  answer(0);
  await first;
  await Promise.all([close(), late]);
});
