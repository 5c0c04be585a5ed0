/** The order of checks: read it beside the row of `docs/contract.md` that names them. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import type { HandlerOptions } from "../../mod.ts";
import { ask } from "../contract/ask.ts";
import { handleService } from "../support/handle_service.ts";
import { REX_JSON } from "../support/pets.ts";

/** What is wrong with a request. */
interface Wrong {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | null;
  readonly options?: Partial<HandlerOptions>;
}

const preflight = { origin: "http://a", "access-control-request-method": "X" };
const rateLimit = async () => ({ allowed: false, headers: {} });

/** By check, a request that fails it, and what the answer says. */
const CHECKS: Readonly<Record<string, readonly [Wrong, RegExp]>> = {
  "host (400)": [{ headers: { host: "a/b" } }, /Host/],
  "path (404)": [{ path: "/nothing" }, /this path/],
  "method (405)": [{ method: "DELETE" }, /Method/],
  "CORS preflight": [{ method: "OPTIONS", headers: preflight }, /^$/],
  "key (401)": [{ headers: { authorization: "Bearer x" } }, /API key/],
  "rate (429)": [{ options: { rateLimit } }, /Too many/],
  "`Idempotency-Key` (400)": [{ headers: { "idempotency-key": '"' } }, /Idem/],
  "missing body (400)": [{ body: null }, /it is missing/],
  "media type (415)": [{ headers: { "content-type": "text/plain" } }, /Type/],
  "size (413)": [{ body: " ".repeat(65) }, /64 bytes/],
  "input (400)": [{ body: "{}" }, /name is required/],
  "pet (404)": [{ path: "/pets/9" }, /no pet/],
};

const contract = new URL("../../docs/contract.md", import.meta.url);
const [, row = ""] = /^\| Order of checks +\| (.*?) +\|/m
  .exec(readFileSync(contract, "utf8")) ?? [];

test("the checks are those of docs/contract.md, in its order", () => {
  assert.deepEqual(row.split(", "), Object.keys(CHECKS));
});

const names = Object.keys(CHECKS);
const [pet = ""] = names.splice(-1); // which a create does not look for

const cases = [
  ["createPet", names, { method: "POST", path: "/pets", body: REX_JSON }],
  ["getPet", [...names.slice(0, 6), pet], { path: "/pets/9", body: null }],
] as const;
for (const [operation, checks, right] of cases) {
  for (const [i, check] of checks.entries()) {
    test(`${operation} looks at ${check} first, and reads a body only to look at it`, async () => {
      const wrong = checks.slice(i).map((check) => CHECKS[check]?.[0]);
      const request = wrong.reduceRight<Wrong>((all, one) => {
        const headers = { ...all.headers, ...one?.headers };
        return { ...all, ...one, headers };
      }, right);
      const { method = "GET", path = "", headers = {}, body } = request;
      let isRead = false;
      const stream = new ReadableStream<Uint8Array>({
        pull(controller) {
          isRead = true;
          controller.enqueue(new TextEncoder().encode(body ?? ""));
          controller.close();
        },
      }, { highWaterMark: 0 });
      const cors = { origins: "*" } as const;
      const options = { cors, maxBodyBytes: 64, ...request.options };
      const { status, text } = await ask(
        handleService(options),
        method,
        path,
        { headers, ...body !== null && { body: stream } },
      );
      const [, number = "204"] = /\((\d+)\)/.exec(check) ?? [];
      assert.equal(`${status}`, number, text);
      assert.match(text && JSON.parse(text).message, CHECKS[check]?.[1] ?? /-/);
      assert.equal(isRead, i > 7); // after "missing body", which a first look tells
    });
  }
}
