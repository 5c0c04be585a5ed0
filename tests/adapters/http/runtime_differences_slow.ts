/**
 * What each runtime answers to bytes on which they differ, mostly before the service sees them, as
 * docs/reliability.md tells. If a row fails after an update, what the documents and the code do about it may go.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { loadServe } from "../../../adapters/standalone/start.ts";
import { toHandler } from "../../../core/handler.ts";
import { Wire } from "../../contract/wire.ts";
import { onEveryRuntime } from "../../support/process.ts";
import { RUNTIME } from "../../support/runtime.ts";

/** A server that sends nothing for so long has answered, in ms. */
const SILENCE = 500;
const FIELDS = "Host: a\r\nAuthorization: Bearer secret\r\n";
const REX = '{"name":"Rex","categoryId":1}';
const LONG = "y".repeat(100_000);
const BODY = `Content-Length: ${REX.length}\r\n\r\n${REX}`;

function get(target: string, fields = "", version = "HTTP/1.1"): string {
  return `GET ${target} ${version}\r\n${FIELDS}${fields}\r\n`;
}

function post(fieldsAndBody: string, version = "HTTP/1.1"): string {
  return `POST /v1/pets ${version}\r\n${FIELDS}${fieldsAndBody}`;
}

// deno-fmt-ignore -- a table
/** What is sent, and the statuses that come; "bare" without a body; then whether the connection is closed. */
const CASES: readonly (readonly [what: string, bytes: string, deno: string, bun: string, node: string])[] = [
  ["an unknown Upgrade with a body", post(`Connection: Upgrade\r\nUpgrade: x\r\n${BODY}`), "400 bare, closed", "201", "201, closed"],
  ["a chunk size that is none", post("Transfer-Encoding: chunked\r\n\r\nzz\r\n"), "closed", "400 bare, closed", "400, closed"],
  ["HTTP/1.0 that expects 100", post(`Expect: 100-continue\r\n${BODY}`, "HTTP/1.0"), "100 201, closed", "100 201, closed", "201, closed"],
  ["a backslash in the path", get("/v1\\pets"), "404", "200", "404"],
  ["a method that nobody knows", get("/v1/pets").replace("GET", "FOO"), "405", "closed", "400, closed"],
  ["an empty line first", `\r\n${get("/v1/pets")}`, "200", "400 bare, closed", "200"],
  ["HTTP/0.9", get("/v1/pets", "", "HTTP/0.9"), "400 bare, closed", "505 bare, closed", "200, closed"],
  ["HTTP/2.0", get("/v1/pets", "", "HTTP/2.0"), "400 bare, closed", "505 bare, closed", "200, closed"],
  ["a field of 100 KB", get("/v1/pets", `X: ${LONG}\r\n`), "400 bare, closed", "431 bare, closed", "400, closed"],
  ["a target of 100 KB", get(`/v1/pets?${LONG}`), "400 bare, closed", "431 bare, closed", "400, closed"],
  ["OPTIONS *", get("*").replace("GET", "OPTIONS"), "404", "400 bare, closed", "404"],
  // What docs/contract.md says of every runtime
  ["a fragment", get("/v1/pets#x"), "200", "200", "200"],
  ["an empty Content-Encoding", post(`Content-Encoding:\r\n${BODY}`), "415", "415", "415"],
  ["a limit of 0 in percent-encoding", get("/v1/pets?li%6dit=%30"), "400", "400", "400"],
  ["preconditions on pets", get("/v1/pets", 'If-None-Match: *\r\nIf-Match: "x"\r\n'), "200", "200", "200"],
  ["If-Match on the document", get("/v1/openapi.json", 'If-Match: "x"\r\n'), "200", "200", "200"],
];

test(`${RUNTIME}: an answer that begins after 12 s arrives`, async () => {
  const serve = await loadServe();
  const handle = toHandler(async () => {
    await setTimeout(12_000); // more than Bun's own idleTimeout
    return { status: 200, headers: {}, body: "late" };
  });
  const server = await serve(handle, { port: 0 });
  assert.equal(await (await fetch(server.url)).text(), "late");
  await server.close();
});

onEveryRuntime("bytes on which runtimes differ", (name, open) => {
  for (const [what, bytes, deno, bun, node] of CASES) {
    const expected = { deno, bun, node }[name];
    test(`${name} answers ${what}: ${expected}`, async () => {
      const { port } = await open({});
      const wire = await Wire.open(port, bytes);
      const text = await wire.until((text) => /"\}?[\]}]$/.test(text), SILENCE);
      if (expected.endsWith("closed")) await wire.until(() => false, SILENCE);
      const [, last = ""] = text.split(/\r\n\r\n([^]*)$/);
      const bare = text !== "" && last === "" ? "bare" : "";
      const statuses = text.match(/(?<=^HTTP\/1\.\d )\d{3}/gm) ?? [];
      const answer = [...statuses, bare].join(" ").trim();
      const parts = [answer, wire.isClosed ? "closed" : ""];
      assert.equal(parts.filter(Boolean).join(", "), expected);
      wire.close();
    });
  }

  test(`${name} ${name === "bun" ? "says not" : "says"} that it closes a connection`, async () => {
    const { port } = await open({});
    const wire = await Wire.open(
      port,
      get("/v1/pets", "Connection: close\r\n"),
    );
    const { lines } = await wire.answer();
    assert.equal(await wire.rest(), "");
    assert.equal(lines.includes("connection: close"), name !== "bun");
  });
});
