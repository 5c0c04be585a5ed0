import assert from "node:assert/strict";
import test from "node:test";
import { linkInPackage } from "../../.ci/package_links.ts";

const DOCUMENT = {
  path: "docs/page.md",
  text: `[\`a[0]\` here](../README.md#run), [there](#there), [far](https://a.b)
[missing](../core/a.ts#b) [folder](examples/)

![picture](picture.png)
`,
};
const isInPackage = (path: string): boolean => path === "README.md";

test("links to what the package lacks are left out if the repository has no address", () => {
  assert.deepEqual(linkInPackage(DOCUMENT, { isInPackage }), {
    text:
      `[\`a[0]\` here](../README.md#run), [there](#there), [far](https://a.b)
missing folder


`,
    leftOut: ["core/a.ts", "docs/examples/", "docs/picture.png"],
  });
});

test("links to what the package lacks lead to the repository if it has an address", () => {
  const repository = "https://a.b/c";
  assert.deepEqual(linkInPackage(DOCUMENT, { isInPackage, repository }), {
    text:
      `[\`a[0]\` here](../README.md#run), [there](#there), [far](https://a.b)
[missing](https://a.b/c/blob/HEAD/core/a.ts#b) [folder](https://a.b/c/blob/HEAD/docs/examples/)

![picture](https://a.b/c/raw/HEAD/docs/picture.png)
`,
    leftOut: [],
  });
});
