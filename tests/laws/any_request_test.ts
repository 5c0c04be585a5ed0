/** Law: whatever is asked, the answer is well-formed, and never the service's fault. */
import assert from "node:assert/strict";
import test from "node:test";
import { ask } from "../contract/ask.ts";
import { assertError } from "../contract/error_reply.ts";
import { handleService } from "../contract/handle_service.ts";
import { fc, runs } from "../support/property.ts";
import {
  assertWellFormed,
  bytes,
  fieldValue,
  holdAgainstAnything,
  withCauses,
} from "./any_request.ts";
import { documentOf } from "./openapi_document.ts";

test("any method, path, query, headers and bytes get a well-formed answer that is declared, never 5xx", async () => {
  await holdAgainstAnything(documentOf(), runs(2000));
});

test("any bytes as a body are an animal or a 400, and leave the service as it was", async () => {
  const service = handleService();
  const rex = { body: '{"name":"Rex","categoryId":1}' };
  await fc.assert(
    fc.asyncProperty(bytes, async (body) => {
      const answer = await ask(service, "POST", "/pets", { body });
      if (answer.status !== 201) assertError(answer, "bad_request");
      const after = await ask(service, "POST", "/pets", rex);
      assert.equal(after.status, 201);
    }),
    runs(1000),
  );
});

// Servers put `Host` and target together as they come; handle is given what no URL parser has seen.
test("any text as method, URL and Host get a well-formed answer, never 5xx", async () => {
  const anyText = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: fc.constantFrom(..."/:?#[]@%*.avpets1") }),
  );
  const url = fc.oneof(
    anyText,
    anyText.map((text) => `http://${text}`),
    anyText.map((text) => `http://localhost/${text}`),
    anyText.map((text) => `http://localhost/v1/pets${text}`),
  );
  await fc.assert(
    fc.asyncProperty(
      anyText,
      url,
      fc.option(fieldValue),
      (method, url, host) =>
        withCauses(async ({ fetch }) => {
          const headers = new Headers({ authorization: "Bearer secret" });
          if (host !== null) headers.set("host", host);
          const response = await fetch(
            { method, url, headers, body: null } as Request,
          );
          const text = await response.text();
          const { status } = response;
          assertWellFormed({ status, headers: response.headers, text }, method);
        }),
    ),
    runs(2000),
  );
});
