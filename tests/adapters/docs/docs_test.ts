import assert from "node:assert/strict";
import test from "node:test";
import { gunzipSync } from "node:zlib";
import { inTurns } from "../../../adapters/docs/in_pieces.ts";
import { docs, type DocsOptions } from "../../../adapters/docs/mod.ts";
import { staticContent } from "../../../adapters/http/static_content.ts";
import { Refusal } from "../../../core/errors.ts";
import { type Handler, toHandler } from "../../../core/handler.ts";
import { createRouter } from "../../../core/router.ts";
import { createPipeline } from "../../../core/service.ts";
import { handleService } from "../../support/handle_service.ts";
import { runWell } from "../../support/process.ts";
import { pathOf } from "../../support/repository.ts";
import { commandLine, RUNTIME, testUnless } from "../../support/runtime.ts";

const ORIGIN = "http://localhost";
const FILES = [
  "page.css",
  "page.js",
  "components.js",
  "exact_json.js",
  "swagger-ui.css",
  "swagger-ui.js",
];

test("docs answers its page and its files, which talk only to their own server", async () => {
  const show = await shown();
  for (const path of ["/docs", ...FILES.map((name) => `/docs/${name}`)]) {
    const { status, headers } = await get(show, path);
    assert.equal(status, 200, path);
    const policy = headers.get("content-security-policy") ?? "";
    assert.match(policy, /^default-src 'none'; /, path);
    assert.doesNotMatch(policy, /unsafe|https?:|\*/, path);
    assert.match(policy, /connect-src 'self';.*frame-ancestors 'none'/, path);
    assert.equal(headers.get("x-content-type-options"), "nosniff", path);
    assert.equal(headers.get("referrer-policy"), "no-referrer", path);
    assert.equal(
      headers.get("cross-origin-resource-policy"),
      "same-origin",
      path,
    );
  }
  const others = ["/", "/docs/", "/docs/x", "/Docs", "/v1/pets", "/docs/../x"];
  for (const path of others) {
    assert.equal((await get(show, path)).status, 404, path);
  }
});

test("every file that the page asks for exists, with its media type", async () => {
  const show = await shown({ path: "/a/docs", alias: "/" });
  for (const page of ["/a/docs", "/"]) {
    const html = await text(show, page);
    const references = [...html.matchAll(/(?:href|src)="([^"]+)"/g)]
      .map(([, reference = ""]) => reference)
      .filter((reference) => /\.(?:css|js)$/.test(reference));
    assert.equal(references.length, FILES.length, page);
    for (const reference of references) {
      assert.doesNotMatch(reference, /^\/|^[a-z]+:/, "relative");
      const { pathname } = new URL(reference, ORIGIN + page);
      const { status, headers } = await get(show, pathname);
      assert.equal(status, 200, pathname);
      const kind = reference.endsWith(".css") ? "css" : "javascript";
      const type = `text/${kind}; charset=utf-8`;
      assert.equal(headers.get("content-type"), type, reference);
    }
  }
});

test("the page knows where the document is, wherever it is itself", async () => {
  const openApiUrl = "/shop:1/openapi.json"; // "shop:1" alone would be of the scheme shop
  for (const page of ["/docs", "/a/b/docs", "/"]) {
    const show = await shown({ path: "/docs", alias: page, openApiUrl });
    const html = await text(show, page);
    const patterns = [
      /data-openapi="([^"]+)"/, // for the script
      /<noscript>[^]*href="([^"]+)"[^]*<\/noscript>/,
    ];
    for (const pattern of patterns) {
      const url = new URL(pattern.exec(html)?.[1] ?? "", ORIGIN + page);
      assert.equal(url.href, ORIGIN + openApiUrl, `${pattern}`);
    }
  }
});

const NOT_DENO = RUNTIME !== "deno" && "only Deno needs a large file in pieces";
const onDeno = { test: testUnless(NOT_DENO) };
onDeno.test("a large file is sent in pieces of 128 KiB, and a small one whole", async () => {
  const show = await shown();
  const codings = ["identity", "gzip"];
  const asked = FILES.flatMap((name) =>
    codings.map((coding) => [name, coding] as const)
  );
  for (const [name, coding] of asked) {
    const init = { headers: { "accept-encoding": coding } };
    const { body, headers } = await get(show, `/docs/${name}`, init);
    const sizes: number[] = [];
    for await (const piece of body ?? []) sizes.push(piece.byteLength);
    const length = sizes.reduce((sum, size) => sum + size, 0);
    const whole = Math.floor(length / 131072);
    const expected = Array.from({ length: whole }, () => 131072);
    assert.deepEqual(sizes, [...expected, length - whole * 131072], name);
    const announced = whole > 0 ? String(length) : null;
    assert.equal(headers.get("content-length"), announced, name);
  }
});

test("the page and its files take a browser, which takes gzip, at most 505,000 bytes", async () => {
  const show = await shown();
  const headers = { "accept-encoding": "gzip, deflate, br, zstd" };
  let size = 0;
  for (const path of ["/docs", ...FILES.map((name) => `/docs/${name}`)]) {
    const plain = await get(show, path);
    const packed = await get(show, path, { headers });
    assert.equal(packed.headers.get("content-encoding"), "gzip", path);
    const bytes = await packed.arrayBuffer();
    size += bytes.byteLength;
    assert.equal(gunzipSync(bytes).toString(), await plain.text(), path);
  }
  assert.ok(size <= 505_000, `${size} bytes`);
});

test("a large file lets others have their turn while it is compressed", async () => {
  const content = staticContent(
    () => new Uint8Array(20 * 131_072),
    {},
    inTurns,
  );
  let turns = 0;
  let isMade = false;
  const headers = { "accept-encoding": "gzip" };
  const asked = content(new Request("http://localhost", { headers }))
    .finally(() => isMade = true);
  for (; !isMade; turns++) await new Promise((resolve) => setTimeout(resolve));
  await asked;
  assert.ok(turns >= 10, `${turns} turns`);
});

test("the page is a part of the service, with its errors, as its option endpoints", async () => {
  const told: unknown[] = [];
  const service = handleService({
    endpoints: await docs({ path: "/docs" }),
    onError: (cause) => told.push(cause),
  });
  const show = (path: string, init?: RequestInit) =>
    service.fetch(new Request(ORIGIN + path, init));
  for (const path of ["/docs", ...FILES.map((name) => `/docs/${name}`)]) {
    assert.equal((await show(path)).status, 200, path);
  }
  assert.equal((await show("/docs", { method: "POST" })).status, 405);
  assert.equal((await show("/docs/x")).status, 404);
  assert.equal((await show("/v1/pets")).status, 401);
  assert.deepEqual(told, []);
});

test("createHandler refuses docs() next to another baseUrl", async () => {
  const page = await docs();
  assert.throws(() => handleService({ endpoints: page, baseUrl: "/shop" }), {
    message:
      /^Wrong option endpoints: the page at \/docs loads \/v1\/openapi\.json, /,
  });
  const openApiUrl = "/shop/openapi.json";
  handleService({ endpoints: await docs({ openApiUrl }), baseUrl: "/shop" });
});

test("the page takes less than 4.5 times the size of its files in memory", async () => {
  const show = await shown();
  let size = 0;
  for (const name of FILES) {
    size += (await (await get(show, `/docs/${name}`)).arrayBuffer()).byteLength;
  }
  const program = pathOf("tests/support/programs/docs_memory.ts");
  let least = Infinity; // a runtime may take more of the system than it needs
  for (let run = 0; run < 3; run++) {
    const stdout = await runWell(commandLine(program));
    assert.match(stdout, /^-?\d+\n$/);
    least = Math.min(least, Number(stdout));
  }
  assert.ok(least < 4.5 * size, `${least} for ${size}`);
});

test("the page answers HEAD as GET, 304 if it is known, and other methods with 405", async () => {
  const show = await shown();
  const etag = (await get(show, "/docs")).headers.get("etag") ?? "";
  const known = { headers: { "if-none-match": etag } };
  const cases = [[200, { method: "HEAD" }], [304, known]] as const;
  for (const [status, init] of cases) {
    const answer = await get(show, "/docs", init);
    assert.equal(answer.status, status);
    assert.equal(answer.headers.get("etag"), etag, `${status}`);
    assert.equal(await answer.text(), "", `${status}`);
  }
  const { status } = await get(show, "/docs", { method: "POST" });
  assert.equal(status, 405);
});

test("the page is told to remember the key only if `rememberKey` is true", async () => {
  for (const options of [{ rememberKey: true }, { rememberKey: false }, {}]) {
    const html = await text(await shown(options), "/docs");
    const { rememberKey = false } = options;
    assert.match(html, RegExp(`data-remember-key="${rememberKey}"`));
  }
});

test('docs writes a path with $&" into the page as it is', async () => {
  const show = await shown({ openApiUrl: '/$&"/openapi.json', path: "/$$" });
  const html = await text(show, "/$$");
  assert.ok(html.includes('data-openapi="./$&amp;&quot;/openapi.json"'), html);
  assert.ok(html.includes('src="./$$/page.js"'), html);
});

test("docs refuses options that are not paths", async () => {
  for (const path of ["docs", "//docs", "", "https://a.b/docs", "/docs?x"]) {
    for (const name of ["path", "openApiUrl", "alias"]) {
      const message =
        `Wrong option ${name}: it must be a path that begins with one "/"`;
      const wrong = { name: "TypeError", message };
      await assert.rejects(docs({ [name]: path }), wrong, path);
    }
  }
  const message = 'Wrong option path: it must not end in "/"';
  await assert.rejects(docs({ path: "/docs/" }), { message });
});

/** Serves the page alone. */
async function shown(options?: DocsOptions): Promise<Handler> {
  const find = createRouter(await docs(options));
  const notFound = new Refusal("not_found", "It is not part of the page");
  return toHandler(createPipeline(
    (method, path) => find(method, path) ?? notFound,
    { keys: { verify: () => false }, onError: console.error },
  ));
}

function get(
  show: Handler,
  path: string,
  init: RequestInit = {},
): Promise<Response> {
  return show(new Request(ORIGIN + path, init));
}

async function text(show: Handler, path: string): Promise<string> {
  const answer = await get(show, path);
  const type = answer.headers.get("content-type");
  assert.equal(type, "text/html; charset=utf-8");
  return await answer.text();
}
