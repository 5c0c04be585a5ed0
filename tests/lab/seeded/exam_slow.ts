/** The exam as a program, with each right client as a program, and both beside a busy machine. */
import assert from "node:assert/strict";
import process from "node:process";
import test from "node:test";
import { run, startProgram } from "../../support/process.ts";
import { pathOf } from "../../support/repository.ts";
import {
  commandLine,
  findRuntimes,
  type FoundRuntime,
  skipping,
} from "../../support/runtime.ts";
import type { ExamReport } from "../../exam/report.ts";
import { RIGHT, WRONG } from "./exam_clients.ts";

const RUNTIMES = findRuntimes();
const isMissing = RUNTIMES.some(({ missing }) => missing !== undefined);
const skip = skipping(isMissing && "the exam needs three runtimes");
const timeout = 1_800_000;

/** Runs an exam of a client, and returns its report. */
async function examined(
  client: string,
  on: FoundRuntime | undefined,
  clientOn: FoundRuntime | undefined,
  ...options: readonly string[]
): Promise<ExamReport> {
  const main = commandLine(pathOf("tests/exam/main.ts"), ["-A"], on);
  const program = pathOf("tests/lab/seeded/exam_clients.ts");
  const command = [
    ...commandLine(program, ["-A", "--no-check"], clientOn),
    client,
  ];
  const all = [...main, "--json", ...options, "--", ...command];
  const { stdout, stderr, code } = await run(all);
  assert.match(stdout, /^\{/, `${client}: exit ${code}\n${stderr}`);
  return JSON.parse(stdout);
}

function harmsOf({ trials }: ExamReport): readonly string[] {
  return trials.filter(({ verdict }) => verdict === "harm")
    .map(({ title, findings }) => `${title}: ${findings.join()}`);
}

for (const runtime of RUNTIMES) {
  const { name, missing = false } = runtime;
  test(
    `the exam finds no harm in right clients in all trials, on ${name}`,
    { skip: missing, timeout },
    async () => {
      const program = pathOf("tests/lab/seeded/examining.ts");
      const { stdout, stderr } = await run(
        commandLine(program, ["-A"], runtime),
      );
      assert.deepEqual(JSON.parse(stdout || "0"), [], stderr);
    },
  );
}

/** Trials for programs: all would start thousands. */
const SOME = [
  "the answer to a create is lost",
  "503 with",
  "the 201 stalls",
  "to another host",
  "getPet after its removal",
  "beyond 2^53",
  "the next page",
].flatMap((text) => ["--only", text]);

test(
  "the exam finds no harm in the programs of right clients",
  { skip, timeout },
  async () => {
    const clients = [...Object.keys(RIGHT).entries()];
    const next = clients.values();
    await Promise.all(Array.from({ length: 2 }, async () => {
      for (const [i, client] of next) {
        // Each pair of runtimes has its turn.
        const [on, clientOn] = [
          RUNTIMES[i % 3],
          RUNTIMES[Math.floor(i / 3) % 3],
        ];
        const options = ["--jobs", "4", ...i % 15 === 0 ? [] : SOME];
        const report = await examined(client, on, clientOn, ...options);
        assert.deepEqual(harmsOf(report), [], client);
        assert.ok(report.good > 0 && report.skipped === 0, client);
      }
    }));
  },
);

test(
  "the exam is right beside four busy loops",
  { skip, timeout },
  async (t) => {
    const loops = Array.from(
      { length: 4 },
      () => startProgram(t, [process.execPath, ...evaluate, "for (;;) {}"]),
    );
    assert.equal(loops.length, 4);
    const patience = ["--client-timeout", "3000"];
    for (
      const client of [
        "gives up, and says what it knows",
        "retries three times",
      ]
    ) {
      for (const on of RUNTIMES) {
        const report = await examined(client, on, on, ...patience);
        assert.deepEqual(harmsOf(report), [], client);
      }
    }
    for (const [harm, clients] of Object.entries(WRONG)) {
      const [client = ""] = Object.keys(clients);
      const report = await examined(
        client,
        RUNTIMES[0],
        RUNTIMES[0],
        "--timeout",
        "8",
        ...patience,
      );
      const all = report.trials.flatMap(({ findings }) => findings) as string[];
      assert.ok(all.includes(harm), client);
    }
  },
);

/** How this runtime is told to run a text. */
const evaluate = "Deno" in globalThis ? ["eval"] : ["-e"];
