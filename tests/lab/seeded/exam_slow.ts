/** The exam as a program, with right clients as programs, and beside busy loops. */
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
import { type Harm, HARMS } from "../../exam/trial.ts";
import { RIGHT, WRONG } from "./exam_clients.ts";

const RUNTIMES = findRuntimes();
const isMissing = RUNTIMES.some(({ missing }) => missing !== undefined);
const skip = skipping(isMissing && "the exam needs three runtimes");
const timeout = 600_000;
/** For clients on a busy machine. */
const PATIENCE = ["--client-timeout", "3000"];

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

test(
  "the exam finds no harm in right clients, on each runtime",
  { skip, timeout },
  async () => {
    const program = pathOf("tests/lab/seeded/examining.ts");
    await Promise.all(RUNTIMES.map(async (runtime) => {
      const command = [...commandLine(program, ["-A"], runtime), "4"];
      const { stdout, stderr } = await run(command);
      assert.deepEqual(JSON.parse(stdout || "0"), [], stderr);
    }));
  },
);

/** Trials for programs: all would start thousands. */
const SOME = [
  "the answer to a create is lost",
  "the 201 stalls",
  "getPet after its removal",
  "categories beyond 2^53",
  "the next page is lost",
].flatMap((text) => ["--only", text]);

test(
  "the exam finds no harm in the programs of right clients",
  { skip, timeout },
  async () => {
    const clients = Object.keys(RIGHT).filter((_, i) => i % 3 === 0);
    const next = clients.entries();
    await Promise.all(Array.from({ length: 2 }, async () => {
      for (const [i, client] of next) {
        // Each pair of runtimes has its turn.
        const [on, clientOn] = [
          RUNTIMES[i % 3],
          RUNTIMES[Math.floor(i / 3) % 3],
        ];
        const options = ["--jobs", "4", ...PATIENCE, ...SOME];
        const report = await examined(client, on, clientOn, ...options);
        assert.deepEqual(harmsOf(report), [], client);
        assert.ok(report.good > 0 && report.skipped === 0, client);
      }
    }));
  },
);

/** A trial in which the first wrong client with this harm does it. */
const SHOWN_BY: Readonly<Record<Harm, string>> = {
  adds_two: "the answer to a create is lost",
  false_success: "503 with Retry-After",
  false_failure: "the answer to a create is lost",
  wrong_pet: "getPet after its removal",
  loses_digits: "categories beyond 2^53",
  partial_list: "the next page is lost",
  error_as_data: "the 201 stalls",
  leaks_key: "a list is redirected to another host",
  hangs: "the 201 stalls",
};

test(
  "the exam is right beside four busy loops",
  { skip, timeout },
  async (t) => {
    const loops = Array.from(
      { length: 4 },
      () => startProgram(t, [process.execPath, ...evaluate, "for (;;) {}"]),
    );
    assert.equal(loops.length, 4);
    const right = ["gives up, and says what it knows", "retries three times"];
    for (const [i, client] of right.entries()) {
      const on = RUNTIMES[i];
      const report = await examined(client, on, on, ...PATIENCE, ...SOME);
      assert.deepEqual(harmsOf(report), [], client);
    }
    for (const harm of HARMS) {
      const [client = ""] = Object.keys(WRONG[harm] ?? {});
      const only = ["--only", SHOWN_BY[harm], "--timeout", "8"];
      const [on] = RUNTIMES;
      const report = await examined(client, on, on, ...PATIENCE, ...only);
      const found = report.trials.flatMap(({ findings }) => findings);
      assert.ok(found.includes(harm), client);
    }
  },
);

/** How this runtime is told to run a text. */
const evaluate = "Deno" in globalThis ? ["eval"] : ["-e"];
