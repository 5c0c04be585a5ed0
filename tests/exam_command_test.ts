/** How an exam runs the program of a client, and the exit status of the command itself. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type Runner, runnerOf } from "./exam/command.ts";
import { examine } from "./exam/exam.ts";
import type { Trial } from "./exam/trial.ts";
import { pathOf } from "./support/repository.ts";
import { run, startProgram } from "./support/process.ts";
import { commandLine } from "./support/runtime.ts";
import { newFolder } from "./support/temporary_directory.ts";
import { until } from "./support/time.ts";

const never = new AbortController().signal;
const sh = (script: string): Runner => runnerOf(["sh", "-c", script]);

test("runnerOf returns exit status, output and errors", async () => {
  process.env.PETSTORE_STATUS = "stale";
  const client = sh(
    'echo "$PETSTORE_CALL/$PETSTORE_STATUS"; echo oh >&2; exit 77',
  );
  delete process.env.PETSTORE_STATUS;
  const ended = await client({ PETSTORE_CALL: "walk" }, never);
  assert.deepEqual(ended, { code: 77, output: "walk/\n", errors: "oh\n" });
});

test("runnerOf rejects if a program cannot be started", async () => {
  const client = runnerOf(["/nowhere/client"]);
  await assert.rejects(
    client({}, never),
    /^UsageError: Cannot start the client/,
  );
});

test("runnerOf reads UTF-8 across chunks, and no more than 8 MiB", async () => {
  const { output } = await sh("head -c 300000 /dev/zero | sed 's/\\x00/é/g'")(
    {},
    never,
  );
  assert.equal(output.trim(), "é".repeat(300_000));
  const { code } = await sh("head -c 9000000 /dev/zero; sleep 60")({}, never);
  assert.equal(code, null);
});

/** Waits until no process has this id. */
async function gone(pid: number): Promise<void> {
  await until(`${pid} is gone`, () => {
    try {
      return !process.kill(pid, 0);
    } catch {
      return true;
    }
  });
}

test("runnerOf does not wait for a process that keeps the pipe, and ends it", async () => {
  const { code, output } = await sh("sleep 60 & echo $!")({}, never);
  assert.equal(code, 0);
  await gone(Number(output));
});

test("runnerOf ends a client and what it started, even if they ignore SIGTERM", async (t) => {
  const control = new AbortController();
  const started = join(newFolder(t), "started");
  const client = sh(
    `trap '' TERM; sleep 60 & echo $$ $!; touch ${started}; wait; sleep 60`,
  );
  const ended = client({}, control.signal);
  await until("it has started", () => existsSync(started));
  control.abort();
  const { code, output } = await ended;
  assert.equal(code, null);
  const pids = output.trim().split(" ").map(Number);
  assert.equal(pids.length, 2);
  for (const pid of pids) await gone(pid);
});

test("examine ends a client that waits, does nothing, or asks for ever", async () => {
  const page: Trial = {
    ...{ title: "", call: "listPets", harms: [], provokedBy: "network" },
    faults: [],
  };
  const trials: readonly Trial[] = [
    { ...page, faults: [{ delay: 3_600_000 }] },
    { ...page, faults: [{ stall: 100 }] },
    { ...page, faults: [{ answer: { status: 500 } }] },
    { ...page, faults: [{ times: "always", answer: { status: 503 } }] },
  ];
  const results = await examine({
    ...{ trials, jobs: trials.length },
    limits: { start: 10_000, silence: 1000, whole: 10_000 },
    async run({ PETSTORE_URL, PETSTORE_KEY, PETSTORE_LIMIT }, signal) {
      const address = `${PETSTORE_URL}/pets?limit=${PETSTORE_LIMIT}`;
      const headers = { authorization: `Bearer ${PETSTORE_KEY}` };
      try {
        while (!signal.aborted) {
          const answer = await fetch(address, { headers, signal });
          const output = await answer.text();
          if (answer.ok) return { code: 0, output };
          if (answer.status === 500) await sleep(60_000, undefined, { signal });
        }
      } catch {
        // It was ended.
      }
      return { code: null, output: "[]" };
    },
  });
  const found = results.map(({ findings }) => findings.map(({ name }) => name));
  assert.deepEqual(found, [["hangs"], ["hangs"], ["ended"], [
    "ended",
    "too_many",
    "too_early",
  ]]);
  const shown = results.map(({ findings: [finding] }) => finding?.shown);
  for (const [i, why] of [/for 1 s \(--timeout\)/, , , /200 times/].entries()) {
    if (why) assert.match(`${shown[i]}`, why, `${i}`);
  }
  const calls = results.at(-1)?.requests.length ?? 0;
  assert.ok(calls >= 200 && calls < 1000, `${calls}`);
});

const EXAM = commandLine(pathOf("tests/exam/main.ts"));
const ONLY = ["--only", "a page is a login page"];
/** A client of one call without a check of the answer, as a script of curl. */
const CURL =
  'curl -s -m 5 -H "Authorization: Bearer $PETSTORE_KEY" "$PETSTORE_URL/pets?limit=$PETSTORE_LIMIT"';

/** Runs the command `exam`. */
function exam(args: readonly string[], script: string) {
  return run([...EXAM, ...args, "--", "sh", "-c", script]);
}

test("exam exits with 1 for harm, unless the baseline has it", async (t) => {
  const first = await exam(ONLY, CURL);
  assert.equal(first.code, 1, first.stderr);
  assert.match(
    first.stdout,
    /^harm: error_as_data: a page is a login page\n {4}shown: exit 0, <html>/,
  );
  const baseline = join(newFolder(t), "baseline.txt");
  writeFileSync(baseline, first.stdout);
  const second = await exam([...ONLY, "--baseline", baseline], CURL);
  assert.equal(second.code, 0, second.stderr);
  assert.match(
    second.stdout,
    /^harm: .*\n {4}as in the baseline\n[^]*In the baseline: 1 harm\./,
  );
  const third = await exam([...ONLY, "--baseline", baseline, "--json"], CURL);
  const [trial] = JSON.parse(third.stdout).trials;
  assert.equal(trial.details[0].accepted, true, third.stdout);
});

test("exam names a stale line of the baseline, and with --strict exits with 1", async (t) => {
  const baseline = join(newFolder(t), "baseline.txt");
  writeFileSync(baseline, "harm: hangs: a page is a login page\n");
  const good = `${CURL} -f | grep '^\\['`;
  for (const [strict, expected] of [[[], 0], [["--strict"], 1]] as const) {
    const args = [...ONLY, "--baseline", baseline, ...strict];
    const { code, stderr } = await exam(args, good);
    assert.equal(code, expected, stderr);
    assert.match(
      stderr,
      /^No longer fails, .*: hangs: a page is a login page$/m,
      `${expected}`,
    );
  }
});

test("exam prints JSON and JUnit, and advice fails with --strict alone", async () => {
  const trial = ["--only", "a gateway answers HTML"];
  const good = `${CURL} -f`;
  const { code, stdout } = await exam([...trial, "--json"], good);
  assert.equal(code, 0);
  const title = "a gateway answers HTML";
  assert.deepEqual(JSON.parse(stdout), {
    trials: [{
      title,
      call: "listPets",
      verdict: "advice",
      findings: ["gives_up"],
      details: [{
        name: "gives_up",
        shown: "GET /v1/pets?limit=25, and not a second time",
        true: "it is safe to send it again",
        do:
          "Send the request again, a few times, with growing pauses or as Retry-After says.",
      }],
    }],
    ...{ good: 0, advice: 1, harm: 0, skipped: 0 },
  });
  const strict = await exam([...trial, "--junit", "--strict"], good);
  assert.equal(strict.code, 1);
  assert.match(strict.stdout, /failures="1"[^]*<failure message="gives_up">/);
});

test("exam exits with 2 if a call already fails without a fault, and says why", async () => {
  for (
    const [script, expected] of [
      [
        "echo oh >&2; exit 3",
        /^shown: exit 3\nstandard error:\n\| oh\nhint: {2}no request came/m,
      ],
      ["kill -SEGV $$", /^shown: ended by SIGSEGV$/m],
      [`${CURL}; exit 139`, /^shown: exit 139$/m],
      [`echo '{"data":'; ${CURL}; echo }`, /missing: id, name, categoryId$/m],
      [
        `${CURL} | sed 's/"categoryId"/"category"/g'`,
        /^hint: {2}a pet has id, name, categoryId; missing: categoryId$/m,
      ],
      ["exit 77", /supports none of the calls/],
      [`echo Pets:; ${CURL}`, /print only JSON/],
      [`PETSTORE_KEY=; ${CURL}`, /send Authorization/],
      [`PETSTORE_URL=$PETSTORE_URL/v1; ${CURL}`, /PETSTORE_URL ends in \/v1/],
      [`PETSTORE_LIMIT=3; ${CURL}`, /true: .*25 pets/],
      [`${CURL} -H 'Upgrade: h2c'; exit 1`, /HTTP\/1\.1/],
    ] as const
  ) {
    const { code, stdout, stderr } = await exam(ONLY, script);
    assert.deepEqual([code, stdout], [2, ""], `${script}: ${stderr}`);
    assert.match(stderr, expected, script);
  }
});

test("exam skips a trial whose fault no request met, and gives no verdict", async (t) => {
  const baseline = join(newFolder(t), "baseline.txt");
  writeFileSync(baseline, "harm: error_as_data: a page is a login page\n");
  // Only the run without a fault, which comes first, sends a request.
  const first = join(newFolder(t), "first");
  const script = `mkdir ${first} || exit 1; ${CURL}`;
  const { code, stdout, stderr } = await exam(
    [...ONLY, "--baseline", baseline, "--strict"],
    script,
  );
  assert.equal(code, 2, stderr);
  assert.match(stdout, /^skipped: .*\(no request met the fault: exit 1\)/m);
  assert.match(stdout, /0 good, 0 with advice, 0 with harm, 1 skipped/);
  assert.match(stderr, /in 1 of 1 trials.*\n.*--jobs.*--client-timeout/);
  assert.doesNotMatch(stderr, /No longer fails/);
  const other = script.replace(first, join(newFolder(t), "first"));
  const { trials: [trial] } = JSON.parse(
    (await exam([...ONLY, "--json"], other)).stdout,
  );
  assert.equal(trial.reason, "no request met the fault: exit 1");
});

test("exam refuses wrong arguments", async () => {
  for (
    const [args, expected] of [
      [[], /needs the command of your client/],
      [["--only", "nothing of the kind", "--", "true"], /No trial fits/],
      [["--json", "--junit", "--", "true"], /not both/],
      [["--jobs", "0", "--", "true"], /--jobs: it must be an integer/],
      [["--", "/nowhere/client"], /Cannot start the client/],
      [["--unknown", "--", "true"], /Unknown option '--unknown'/],
    ] as const
  ) {
    const { code, stdout, stderr } = await run([...EXAM, ...args]);
    assert.deepEqual([code, stdout], [2, ""], stderr);
    assert.match(stderr, expected, `${args}`);
  }
});

test("exam --list prints the trials, and COMMAND needs no --", async () => {
  const { code, stdout } = await run([...EXAM, "--list", ...ONLY]);
  assert.equal(code, 0);
  assert.match(
    stdout,
    /^listPets: a page is a login page\n {4}by: gateway; harm: /,
  );
  const named = await run([
    ...EXAM,
    "--only",
    "getPet after",
    "sh",
    "-c",
    "exit 77",
  ]);
  assert.match(named.stderr, /supports none/);
});

test("an interrupted exam ends what it started", async (t) => {
  const pids = join(newFolder(t), "pids");
  writeFileSync(pids, "");
  const script = `trap '' TERM; echo $$ >> ${pids}; sleep 60`;
  const program = startProgram(t, [...EXAM, ...ONLY, "--", "sh", "-c", script]);
  const started = () => readFileSync(pids, "utf8").split("\n").slice(0, -1);
  await until("the client has started", () => started().length > 0);
  assert.equal(await program.end("SIGINT"), 130);
  assert.match(program.stderr(), /Interrupted/);
  assert.equal(started().length, 1);
  for (const pid of started()) await gone(Number(pid));
});
