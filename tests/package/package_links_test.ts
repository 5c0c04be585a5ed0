import assert from "node:assert/strict";
import test from "node:test";
import { linkInPackage } from "../../.ci/package_links.ts";

const KEPT =
  "[`a[0]` here](../README.md#run), [there](#there), [far](https://a.b)\n";
const DOCUMENT = {
  path: "docs/page.md",
  text: `${KEPT}[missing](../core/a.ts#b) [folder](examples/)

![picture](picture.png)
`,
};
const isInPackage = (path: string): boolean => path === "README.md";
const repository = "https://a.b/c";

test("links to what the package lacks are left out if the repository has no address", () => {
  assert.deepEqual(linkInPackage(DOCUMENT, { isInPackage }), {
    text: `${KEPT}missing folder\n\n\n`,
    leftOut: ["core/a.ts", "docs/examples/", "docs/picture.png"],
  });
});

test("links to what the package lacks lead to the repository if it has an address", () => {
  assert.deepEqual(linkInPackage(DOCUMENT, { isInPackage, repository }), {
    text:
      `${KEPT}[missing](https://a.b/c/blob/HEAD/core/a.ts#b) [folder](https://a.b/c/blob/HEAD/docs/examples/)

![picture](https://a.b/c/raw/HEAD/docs/picture.png)
`,
    leftOut: [],
  });
});

test("all links of the README lead to the repository if it has an address", () => {
  const document = {
    path: "README.md",
    text: "[run](#run) [docs](docs/a.md#b), [far](https://a.b) ![c](c.png)",
  };
  assert.equal(
    linkInPackage(document, { isInPackage: () => true, repository }).text,
    "[run](#run) [docs](https://a.b/c/blob/HEAD/docs/a.md#b), [far](https://a.b) ![c](https://a.b/c/raw/HEAD/c.png)",
  );
});

test("pack removes notes that only link to unpackaged files, and keeps other notes", () => {
  const path = "docs/page.md";
  const text = `It is so ([a](a.ts), [b](b.ts)), and ([read](../README.md)).

Tests: [a](a.ts),
[b](b.ts)
`;
  const result = linkInPackage({ path, text }, { isInPackage });
  assert.equal(result.text, "It is so, and ([read](../README.md)).\n\n");
  assert.deepEqual(
    new Set(result.leftOut),
    new Set(["docs/a.ts", "docs/b.ts"]),
  );
  const linked = linkInPackage({ path, text }, { isInPackage, repository });
  assert.equal(linked.text.match(/https:/g)?.length, 4);
});
