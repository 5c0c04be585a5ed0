import assert from "node:assert/strict";
import test from "node:test";
import { docs } from "../../../adapters/docs/mod.ts";

const ORIGIN = "http://localhost";
const FILES = ["page.css", "page.js", "swagger-ui.css", "swagger-ui.js"];

test("docs answers its page and its files, and nothing else", async () => {
  const show = await docs();
  for (const path of ["/docs", ...FILES.map((name) => `/docs/${name}`)]) {
    assert.equal((await show(new Request(ORIGIN + path)))?.status, 200, path);
  }
  const others = ["/", "/docs/", "/docs/x", "/Docs", "/v1/pets", "/docs/../x"];
  for (const path of others) {
    assert.equal(await show(new Request(ORIGIN + path)), undefined, path);
  }
});

test("every file that the page asks for exists, with its media type", async () => {
  const show = await docs({ path: "/a/docs", alias: "/" });
  for (const page of ["/a/docs", "/"]) {
    const html = await text(show, page);
    const references = [...html.matchAll(/(?:href|src)="([^"]+)"/g)]
      .map(([, reference = ""]) => reference)
      .filter((reference) => /\.(?:css|js)$/.test(reference));
    assert.equal(references.length, FILES.length);
    for (const reference of references) {
      assert.doesNotMatch(reference, /^\/|^[a-z]+:/, "relative");
      const url = new URL(reference, ORIGIN + page);
      const response = await show(new Request(url));
      assert.equal(response?.status, 200, url.href);
      assert.equal(
        response?.headers.get("content-type"),
        reference.endsWith(".css")
          ? "text/css; charset=utf-8"
          : "text/javascript; charset=utf-8",
      );
    }
  }
});

test("the page knows where the document is, wherever it is itself", async () => {
  for (const path of ["/docs", "/a/b/docs"]) {
    const show = await docs({ path, openApiUrl: "/shop/v1/openapi.json" });
    const html = await text(show, path);
    const references = [
      /data-openapi="([^"]+)"/, // for the script
      /<noscript>[^]*href="([^"]+)"[^]*<\/noscript>/,
    ].map((pattern) => pattern.exec(html)?.[1] ?? "");
    for (const reference of references) {
      assert.equal(
        new URL(reference, ORIGIN + path).pathname,
        "/shop/v1/openapi.json",
      );
    }
  }
});

test("the page has no inline script and no inline style", async () => {
  const html = await text(await docs(), "/docs");
  assert.doesNotMatch(html, /<script(?![^>]*\bsrc=)/);
  assert.doesNotMatch(html, /<style|\bstyle=|\bon[a-z]+=/);
});

test("every response lets the page talk only to its own server", async () => {
  const show = await docs();
  for (const path of ["/docs", ...FILES.map((name) => `/docs/${name}`)]) {
    const response = await show(new Request(ORIGIN + path));
    const policy = response?.headers.get("content-security-policy") ?? "";
    assert.match(policy, /^default-src 'none'; /);
    assert.doesNotMatch(policy, /unsafe|https?:|\*/);
    assert.match(policy, /connect-src 'self';.*frame-ancestors 'none'/);
    assert.equal(response?.headers.get("x-content-type-options"), "nosniff");
    assert.equal(response?.headers.get("referrer-policy"), "no-referrer");
  }
});

test("a browser that has a file already gets 304", async () => {
  const show = await docs();
  const url = `${ORIGIN}/docs/swagger-ui.css`;
  const etag = (await show(new Request(url)))?.headers.get("etag") ?? "";
  const again = await show(
    new Request(url, { headers: { "if-none-match": etag } }),
  );
  assert.equal(again?.status, 304);
  assert.equal(await again?.text(), "");
});

test("HEAD is answered as GET, and any other method with 405", async () => {
  const show = await docs();
  const get = await show(new Request(`${ORIGIN}/docs`));
  const head = await show(new Request(`${ORIGIN}/docs`, { method: "HEAD" }));
  assert.equal(head?.status, 200);
  assert.equal(head?.headers.get("etag"), get?.headers.get("etag"));
  assert.equal(await head?.text(), "");
  for (const method of ["POST", "PUT", "DELETE"]) {
    const response = await show(new Request(`${ORIGIN}/docs`, { method }));
    assert.equal(response?.status, 405);
    assert.equal(response?.headers.get("allow"), "GET, HEAD, OPTIONS");
  }
});

test("the page is told to remember the key only if `rememberKey` is true", async () => {
  for (const rememberKey of [true, false]) {
    const html = await text(await docs({ rememberKey }), "/docs");
    assert.match(html, new RegExp(`data-remember-key="${rememberKey}"`));
  }
  assert.match(await text(await docs(), "/docs"), /data-remember-key="false"/);
});

test("docs writes a path with $& into the page as it is", async () => {
  const show = await docs({ openApiUrl: "/$&/openapi.json", path: "/$$" });
  const html = await text(show, "/$$");
  assert.ok(html.includes('data-openapi="$&amp;/openapi.json"'), html);
  assert.ok(html.includes('src="$$/page.js"'), html);
});

test("docs refuses options that are not paths", async () => {
  for (const path of ["docs", "//docs", "", "https://a.b/docs", "/docs?x"]) {
    await assert.rejects(docs({ path }), TypeError, path);
    await assert.rejects(docs({ openApiUrl: path }), TypeError, path);
    await assert.rejects(
      docs({ alias: path }),
      /^TypeError: Wrong option alias: /,
      path,
    );
  }
  await assert.rejects(docs({ path: "/docs/" }), TypeError);
});

async function text(
  show: Awaited<ReturnType<typeof docs>>,
  path: string,
): Promise<string> {
  const response = await show(new Request(ORIGIN + path));
  assert.equal(
    response?.headers.get("content-type"),
    "text/html; charset=utf-8",
  );
  return await response?.text() ?? "";
}
