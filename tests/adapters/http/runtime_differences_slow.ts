/**
 * What each runtime answers to bytes on which they differ, mostly before the service sees them, as
 * docs/reliability.md says. If a row fails after an update, what the documents and the code do
 * about it may go.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { toHandler } from "../../../core/handler.ts";
import { onEveryRuntime } from "../../support/process.ts";
import { RUNTIME } from "../../support/runtime.ts";
import { listen } from "../../support/server.ts";
import { openWire, rawRequest, WITH_KEY } from "../../support/wire.ts";

/** A server that sends nothing for this long has answered, in ms. After 5 s Node hangs up. */
const SILENCE = 4000;
const REX = '{"name":"Rex","categoryId":1}';
const LONG = "y".repeat(100_000);

const list = (...fields: readonly string[]): string =>
  rawRequest("GET /v1/pets", [WITH_KEY, ...fields]);
const create = (...fields: readonly string[]): string =>
  rawRequest("POST /v1/pets", [WITH_KEY, ...fields], REX);

// deno-fmt-ignore -- a table
/**
 * What is sent, and the statuses that come; "bare" without a body; then whether the connection is
 * closed.
 */
const CASES: readonly (readonly [what: string, bytes: string, deno: string, bun: string, node: string])[] = [
  ["an unknown Upgrade with a body", create("Connection: Upgrade", "Upgrade: x"), "400 bare, closed", "201", "201, closed"],
  ["a chunk size that is none", `${rawRequest("POST /v1/pets", [WITH_KEY, "Transfer-Encoding: chunked"])}zz\r\n`, "closed", "400 bare, closed", "400, closed"],
  ["HTTP/1.0 that expects 100", create("Expect: 100-continue").replace("HTTP/1.1", "HTTP/1.0"), "100 201, closed", "100 201, closed", "201, closed"],
  ["a backslash in the path", list().replace("/pets", "\\pets"), "404", "200", "404"],
  ["a method that nobody knows", list().replace("GET", "FOO"), "405", "closed", "400, closed"],
  ["an empty line first", `\r\n${list()}`, "200", "400 bare, closed", "200"],
  ["HTTP/0.9", list().replace("HTTP/1.1", "HTTP/0.9"), "400 bare, closed", "505 bare, closed", "200, closed"],
  ["HTTP/2.0", list().replace("HTTP/1.1", "HTTP/2.0"), "400 bare, closed", "505 bare, closed", "200, closed"],
  ["a field of 100 KB", list(`X: ${LONG}`), "400 bare, closed", "431 bare, closed", "400, closed"],
  ["a target of 100 KB", list().replace("pets", `pets?${LONG}`), "400 bare, closed", "431 bare, closed", "400, closed"],
  ["OPTIONS *", rawRequest("OPTIONS *", [WITH_KEY]), "404", "400 bare, closed", "404"],
  // What docs/contract.md says of every runtime
  ["a fragment", list().replace("pets", "pets#x"), "200", "200", "200"],
  ["an empty Content-Encoding", create("Content-Encoding:"), "415", "415", "415"],
  ["a limit of 0 in percent-encoding", list().replace("pets", "pets?li%6dit=%30"), "400", "400", "400"],
  ["preconditions on pets", list("If-None-Match: *", 'If-Match: "x"'), "200", "200", "200"],
  ["If-Match on the document", list('If-Match: "x"').replace("pets", "openapi.json"), "200", "200", "200"],
];

test(`${RUNTIME}: an answer that begins after 12 s arrives`, async (t) => {
  const handle = toHandler(async () => {
    await setTimeout(12_000); // more than Bun's own idleTimeout
    return { status: 200, headers: {}, body: "late" };
  });
  const { url } = await listen(t, handle);
  assert.equal(await (await fetch(url)).text(), "late");
});

onEveryRuntime("bytes on which runtimes differ", (name, open) => {
  for (const [what, bytes, deno, bun, node] of CASES) {
    const expected = { deno, bun, node }[name];
    test(`${name} answers ${what}: ${expected}`, async (t) => {
      const wire = await openWire(t, await open({}), bytes);
      const text = await wire.until((text) => /[\]}]$/.test(text), SILENCE);
      if (expected.endsWith("closed")) await wire.until(() => false, SILENCE);
      const [, last = ""] = text.split(/\r\n\r\n([^]*)$/);
      const bare = text !== "" && last === "" ? "bare" : "";
      const statuses = text.match(/(?<=^HTTP\/1\.\d )\d{3}/gm) ?? [];
      const answer = [...statuses, bare].join(" ").trim();
      const parts = [answer, wire.isClosed ? "closed" : ""];
      assert.equal(parts.filter(Boolean).join(", "), expected);
    });
  }

  test(`${name} ${name === "bun" ? "says not" : "says"} that it closes a connection`, async (t) => {
    const wire = await openWire(t, await open({}), list("Connection: close"));
    const { lines } = await wire.answer();
    assert.equal(await wire.rest(), "");
    assert.equal(lines.includes("connection: close"), name !== "bun");
  });
});
