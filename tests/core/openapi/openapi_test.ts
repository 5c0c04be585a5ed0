import assert from "node:assert/strict";
import test from "node:test";
import {
  apiKeys,
  createHandler,
  memoryStorage,
  openApi,
} from "../../../mod.ts";
import { STATUS_OF } from "../../contract/error_reply.ts";
import { DOCUMENT } from "../../laws/openapi_document.ts";

function ask(
  method: string,
  { path = "/v1/openapi.json", baseUrl, headers = {} }: {
    readonly path?: string;
    readonly baseUrl?: string;
    readonly headers?: Record<string, string>;
  } = {},
): Promise<Response> {
  const handle = createHandler({
    storage: memoryStorage(),
    keys: apiKeys(["secret"]),
    ...(baseUrl === undefined ? {} : { baseUrl }),
  });
  return handle(new Request(`http://localhost${path}`, { method, headers }));
}

test("GET /openapi.json is the document, and needs no key", async () => {
  const response = await ask("GET");
  assert.equal(response.status, 200);
  assert.deepEqual(Object.fromEntries(response.headers), {
    "content-type": "application/json",
    "cache-control": "no-cache",
    "x-content-type-options": "nosniff",
    etag: response.headers.get("etag"),
  });
  assert.match(response.headers.get("etag") ?? "", /^"[^"]+"$/);
  assert.deepEqual(
    await response.json(),
    JSON.parse(JSON.stringify(openApi())),
  );
});

test("GET /openapi.json is 304 to who has it", async () => {
  const etag = (await ask("GET")).headers.get("etag") ?? "";
  for (const field of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
    const response = await ask("GET", { headers: { "if-none-match": field } });
    assert.equal(response.status, 304, field);
    assert.deepEqual(Object.fromEntries(response.headers), {
      "cache-control": "no-cache",
      etag,
    });
    assert.equal(await response.text(), "");
  }
  const other = await ask("GET", { headers: { "if-none-match": '"x"' } });
  assert.equal(other.status, 200);
});

test("HEAD /openapi.json has the headers of GET and no body", async () => {
  const get = await ask("GET");
  const head = await ask("HEAD");
  const length = (await get.arrayBuffer()).byteLength;
  assert.equal(head.status, 200);
  assert.deepEqual(Object.fromEntries(head.headers), {
    ...Object.fromEntries(get.headers),
    "content-length": String(length),
  });
  assert.equal(await head.text(), "");
  const etag = get.headers.get("etag") ?? "";
  const known = await ask("HEAD", { headers: { "if-none-match": etag } });
  assert.equal(known.status, 304);
  assert.equal(known.headers.get("content-length"), null);
});

test("/openapi.json has GET, HEAD and OPTIONS, and no other method", async () => {
  const options = await ask("OPTIONS");
  assert.equal(options.status, 204);
  assert.equal(options.headers.get("allow"), "GET, HEAD, OPTIONS");
  for (const method of ["POST", "PUT", "DELETE", "PATCH"]) {
    const response = await ask(method);
    assert.equal(response.status, 405);
    assert.equal(response.headers.get("allow"), "GET, HEAD, OPTIONS");
    assert.equal((await response.json()).code, "method_not_allowed");
  }
});

test("the document is where the service is, and says so", async () => {
  const places = [
    ["/v1", "/v1/openapi.json", "/v1"],
    ["/", "/openapi.json", "/"],
    ["/shop/pets/v1", "/shop/pets/v1/openapi.json", "/shop/pets/v1"],
    [
      "https://api.example.com/v1",
      "/v1/openapi.json",
      "https://api.example.com/v1",
    ],
    ["https://api.example.com", "/openapi.json", "https://api.example.com"],
  ] as const;
  for (const [baseUrl, path, url] of places) {
    const response = await ask("GET", { baseUrl, path });
    assert.deepEqual((await response.json()).servers, [{ url }], baseUrl);
  }
});

test("openApi refuses a wrong base URL", () => {
  assert.throws(() => openApi("v1"), TypeError);
});

test("the document has the operations of the contract under the tag animals, and its own under service", () => {
  const operations = Object.entries(DOCUMENT.paths).flatMap((
    [path, item],
  ) =>
    Object.entries(item).map(([method, { operationId, tags, ...rest }]) => [
      `${method.toUpperCase()} ${path}`,
      operationId,
      ...tags,
      rest.security === undefined ? "with a key" : "without",
      rest.deprecated ?? false,
    ])
  );
  assert.deepEqual(operations, [
    ["GET /pets", "listPets", "animals", "with a key", false],
    ["POST /pets", "createPet", "animals", "with a key", false],
    ["GET /pets/{petId}", "getPet", "animals", "with a key", true],
    ["GET /openapi.json", "getOpenApi", "service", "without", false],
  ]);
});

test("nothing in the document makes a generated client strict beyond the contract", () => {
  const int64 = new Set<string>();
  JSON.stringify(openApi(), (key, value) => {
    assert.notEqual(key, "const");
    if (key === "headers") {
      assert.doesNotMatch(JSON.stringify(value), /"(required|enum)"/);
    }
    // Generators read bounds into a double.
    if (value?.format === "int64") {
      Object.keys(value).forEach((name) => int64.add(name));
    }
    return value;
  });
  assert.deepEqual(
    [...int64].sort(),
    ["description", "examples", "format", "type"],
  );
});

test("the document names every error code, and allows those of later versions", () => {
  const { code } = DOCUMENT.components.schemas.Error?.properties ?? {};
  const codes = Object.keys(STATUS_OF);
  assert.deepEqual(code?.examples, codes);
  assert.ok(code?.description?.endsWith(`codes: ${codes.join(", ")}.`));
  assert.equal(code?.enum, undefined);
});

test("descriptions that generators copy into comments have nothing to escape", () => {
  const operations = Object.values(DOCUMENT.paths)
    .flatMap((item) => Object.values(item));
  const described = [
    DOCUMENT.components.schemas,
    ...operations.map(
      ({ description, parameters, requestBody }) => [
        { description },
        parameters,
        requestBody,
      ],
    ),
  ];
  let count = 0;
  JSON.stringify(described, (key, value) => {
    if (key !== "description" || typeof value !== "string") return value;
    assert.doesNotMatch(value, /[`'"<>&=*]/);
    count++;
  });
  assert.ok(count > 20, `${count}`);
});

test("no body has examples by name, of which OpenAPI Generator warns", () => {
  JSON.stringify(openApi(), (key, value) => {
    if (key === "examples") assert.ok(Array.isArray(value));
    return value;
  });
});

test("the document says when getPet is removed", () => {
  const getPet = DOCUMENT.paths["/pets/{petId}"]?.get;
  assert.match(getPet?.description ?? "", /removed on 5 December 2030/);
});
