/** Errors of PostgreSQL, PgBouncer and the driver, as faults; `faults_slow.ts` has real ones. */
import assert from "node:assert/strict";
import test from "node:test";
import {
  fault,
  isNotReplicated,
  isTransient,
  statementFault,
  WrongServer,
} from "../../../../adapters/storage/postgres/fault.ts";
import { StorageError } from "../../../../core/pets/pet_storage.ts";

/** An error of the server, with its SQLSTATE. */
function sqlError(code: string, message = "no"): Error {
  return Object.assign(new Error(message), { code, severity: "ERROR" });
}

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}

const cases = [
  ["an end that is lost", "unavailable", "outcome_unknown", [
    new Error("ended"),
    systemError("ECONNRESET"),
    ...["08006", "40003", "57P01"].map((code) => sqlError(code)),
    sqlError("08P01", "lost after query_wait_timeout"), // not what PgBouncer says
  ]],
  ["a statement that was not carried out", "unavailable", "unavailable", [
    sqlError("08P01", "query_wait_timeout"), // PgBouncer did not send it on
    // The last is that of pg_cancel_backend(); pg_terminate_backend() is 57P01 above.
    ...["40001", "53300", "55P03", "57014"].map((code) => sqlError(code)),
  ]],
  // For being idle, so before it read the statement.
  ["a connection that the server ended", "unavailable", "unavailable", [
    sqlError("57P05"),
  ]],
  ["a statement that the driver did not send", "unavailable", "unavailable", [
    new Error(
      "Client has encountered a connection error and is not queryable",
    ),
    new Error("Client was closed and is not queryable"),
  ]],
  // A trigger may say anything.
  [
    "the driver's words in an error of the server",
    "unavailable",
    "outcome_unknown",
    [
      sqlError("57P01", "Client was closed and is not queryable"),
    ],
  ],
  // A mistake in the SQL, and a value that is refused.
  ["an error of a statement", "itself", "itself", [
    ...["42601", "23514"].map((code) => sqlError(code)),
  ]],
] as const;
for (const [what, read, create, errors] of cases) {
  test(`${what} is ${read} after a read, and ${create} after a create`, () => {
    for (const error of errors) {
      for (const [commits, kind] of [[false, read], [true, create]] as const) {
        const fault = statementFault("create pet", error, { commits });
        if (kind === "itself") assert.equal(fault, error, kind);
        else {
          assert.ok(fault instanceof StorageError, kind);
          assert.deepEqual([fault.kind, fault.cause], [kind, error], kind);
        }
      }
    }
  });
}

test("a warning that a standby has no copy is told from others, and from a trigger's", () => {
  const routine = "SyncRepWaitForLSN";
  for (const code of ["01000", "57P01"]) {
    assert.ok(isNotReplicated({ code, routine }), code);
    assert.ok(isNotReplicated({ code }), code); // the protocol does not ask for it
    assert.ok(!isNotReplicated({ code, routine: "exec_stmt_raise" }), code);
  }
  assert.ok(!isNotReplicated({ code: "01001", routine }));
});

test("a fault that may pass is waited for, and no other", () => {
  const may = [
    new WrongServer("it is read-only"),
    ...["08006", "53300", "55P03", "57P03"].map((code) => sqlError(code)),
    systemError("ECONNREFUSED"),
    new Error("Query read timeout"),
    new Error("Connection terminated unexpectedly"),
  ];
  const mayNot = [
    sqlError("28P01"),
    sqlError("3D000"),
    sqlError("08P01", "unsupported startup parameter: x"),
    systemError("ENOTDIR"),
    new Error("self-signed certificate"),
    "no error",
  ];
  assert.deepEqual(may.filter((error) => !isTransient(error)), []);
  assert.deepEqual(mayNot.filter(isTransient), []);
  assert.ok(isTransient(new AggregateError([...mayNot, ...may])));
  assert.ok(!isTransient(new AggregateError(mayNot)));
});

test("a pooler that gives each transaction another connection is recognised", () => {
  const messageOf = (error: Error) =>
    fault("unavailable", "get pet", error).message;
  const advice = "it is a pooler: add pgbouncer=true to the address";
  for (const code of ["26000", "42P05"]) {
    assert.equal(
      messageOf(sqlError(code)),
      `Cannot get pet: ${advice} (no)`,
      code,
    );
  }
  const refused = sqlError("08P01", "unsupported startup parameter: x");
  const message = `Cannot get pet: ${advice} (${refused.message})`;
  assert.equal(messageOf(refused), message);
  assert.equal(messageOf(sqlError("57P01")), "Cannot get pet: no");
});

test("a host whose name cannot be looked up is told in words, whatever the system's", () => {
  for (const code of ["ENOTFOUND", "EAI_AGAIN"]) {
    const cause = new Error(`getaddrinfo ${code} db.internal`);
    const { message } = fault("unavailable", "reach PostgreSQL", cause);
    const words = "the host db.internal cannot be found";
    assert.equal(message, `Cannot reach PostgreSQL: ${words}`, code);
  }
});
