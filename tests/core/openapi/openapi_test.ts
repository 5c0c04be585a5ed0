import assert from "node:assert/strict";
import test from "node:test";
import { operationsOf } from "../../../core/operations.ts";
import { openApi } from "../../../mod.ts";
import { ask } from "../../contract/ask.ts";
import { STATUS_OF } from "../../contract/error_reply.ts";
import { handleService } from "../../support/handle_service.ts";
import { HEADERS, OPERATIONS, SCHEMAS } from "../../laws/openapi_schema.ts";

const ROWS = operationsOf({ hasGetPet: true });

const NO_KEY = { headers: { authorization: undefined } };

const operations = Object.values(OPERATIONS);

/** Calls `look` with each member of a value, of its members and so on, and with its path. */
function walk(
  value: unknown,
  look: (key: string, value: unknown, path: string) => void,
  path = "#",
): void {
  if (typeof value !== "object" || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    look(key, member, `${path}/${key}`);
    walk(member, look, `${path}/${key}`);
  }
}

test("openApi() can be cloned; as JSON it has the exact integers", () => {
  const document = openApi();
  assert.ok(JSON.stringify(document).includes("9007199254740993"));
  const clone = structuredClone(document);
  assert.deepEqual(
    JSON.parse(JSON.stringify(clone)),
    JSON.parse(JSON.stringify(document)),
  );
});

test("GET and HEAD /openapi.json answer with the document, and need no key", async () => {
  const service = handleService();
  const get = await ask(service, "GET", "/openapi.json", NO_KEY);
  const fields = Object.fromEntries(get.headers);
  assert.equal(get.status, 200);
  assert.deepEqual(fields, {
    "content-type": "application/json",
    "cache-control": "no-cache",
    "x-content-type-options": "nosniff",
    etag: get.headers.get("etag"),
    vary: "Accept-Encoding",
  });
  assert.deepEqual(JSON.parse(get.text), JSON.parse(JSON.stringify(openApi())));
  const head = await ask(service, "HEAD", "/openapi.json", NO_KEY);
  assert.deepEqual([head.status, head.text], [200, ""]);
  const length = `${new TextEncoder().encode(get.text).length}`;
  const headFields = Object.fromEntries(head.headers);
  assert.deepEqual(headFields, { ...fields, "content-length": length });
});

test("after the removal the document knows no getPet, and a 201 no Location", async () => {
  const service = handleService({ getPet: false });
  const { text } = await ask(service, "GET", "/openapi.json", NO_KEY);
  const described = openApi("/v1", { getPet: false });
  assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(described)));
  const { paths } = JSON.parse(text);
  assert.deepEqual(Object.keys(paths), ["/pets", "/openapi.json"]);
  assert.doesNotMatch(text, /getPet|petId|Location|Sunset|Deprecation/);
});

test("the document says where the service is, and is there", async () => {
  const places = [
    ["/v1", "/v1/openapi.json"],
    ["/", "/openapi.json"],
    ["https://api.example.com/shop/v1", "/shop/v1/openapi.json"],
    ["https://api.example.com", "/openapi.json"],
  ] as const;
  for (const [baseUrl, path] of places) {
    const service = handleService({ baseUrl });
    const { text } = await ask(service, "GET", `http://localhost${path}`);
    assert.deepEqual(JSON.parse(text).servers, [{ url: baseUrl }], baseUrl);
  }
  assert.throws(() => openApi("v1"), TypeError);
});

test("the document has every operation, with its tag, and a key unless it is public", () => {
  for (const { method, path, isPublic = false } of ROWS) {
    const { operationId, tags, security } = operations.find((one) =>
      one.method === method && one.path === path
    ) ??
      assert.fail(path);
    assert.equal(security !== undefined, isPublic, operationId);
    assert.match(tags.join(), /^(?:animals|service)$/, operationId);
  }
  assert.equal(operations.length, ROWS.length);
});

test("nothing in the document makes a generated client strict beyond the contract", () => {
  const int64 = new Set<string>();
  walk(openApi(), (key, value, path) => {
    assert.notEqual(key, "const", path);
    // OpenAPI Generator warns about named examples, so errors have one without a name.
    const { code, format } = Object(value);
    if (code !== undefined) assert.notEqual(key, "value", path);
    if (key === "headers") {
      assert.doesNotMatch(JSON.stringify(value), /"(required|enum)"/, path);
    }
    // Generators read bounds as doubles.
    if (format === "int64") {
      Object.keys(Object(value)).forEach((name) => int64.add(name));
    }
  });
  assert.deepEqual(
    [...int64].sort(),
    ["description", "examples", "format", "type"],
    "an int64 has no minimum, maximum or default: generators read them into a double",
  );
});

test("every schema in the document says what it is, and every reference leads to one", () => {
  walk(openApi(), (key, value, path) => {
    if (key === "schema" || key === "items") {
      assert.ok("$ref" in Object(value) || "type" in Object(value), path);
    }
    if (key === "$ref") {
      const [, kind = "", name = ""] =
        /^#\/components\/(schemas|headers)\/([\w-]+)$/.exec(`${value}`) ?? [];
      assert.ok(name in (kind === "schemas" ? SCHEMAS : HEADERS), path);
    }
  });
});

test("every member in the document is described, for the comments of generated clients", () => {
  const members = Object.entries(SCHEMAS).flatMap((
    [name, { properties = {} }],
  ) =>
    Object.entries(properties).map(([member, { description }]) => ({
      member: `${name}.${member}`,
      description,
    }))
  );
  const undescribed = members.filter(({ description }) => !description);
  assert.deepEqual(undescribed, []);
  assert.ok(members.length > 5);
});

test("the document names every error code, and allows those of later versions", () => {
  const { code } = SCHEMAS.Error?.properties ?? {};
  const codes = Object.keys(STATUS_OF);
  assert.deepEqual(code?.examples, codes);
  assert.ok(code?.description?.endsWith(`codes: ${codes.join(", ")}.`));
  assert.equal(code?.enum, undefined);
});

test("descriptions that generators copy into comments have nothing to escape", () => {
  const described = [
    SCHEMAS,
    ...operations.map(({ description, parameters, requestBody }) => [
      { description },
      parameters,
      { description: requestBody?.description },
    ]),
  ];
  let count = 0;
  walk(described, (key, value, path) => {
    if (key !== "description" || typeof value !== "string") return;
    assert.doesNotMatch(value, /[`'"<>&=*]/, path);
    count++;
  });
  assert.ok(count > 20, `${count}`);
});
