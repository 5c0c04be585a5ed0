import assert from "node:assert/strict";
import { inspect } from "node:util";
import { NodeResponse } from "../../../adapters/node/mod.ts";
import { testOnNode } from "./on_node.ts";

type Arguments = ConstructorParameters<typeof Response>;

/** What can be seen of a response, or of the failure to make one. */
async function look(
  make: typeof Response,
  args: Arguments,
): Promise<unknown> {
  let made = false;
  try {
    const response = new make(...args);
    made = true;
    const { status, statusText, ok, type, url, redirected, bodyUsed } =
      response;
    const headers = [...response.headers];
    const hasBody = response.body !== null;
    const blobType = (await response.clone().blob()).type;
    const text = await response.text();
    return {
      ...{ status, statusText, ok, type, url, redirected, bodyUsed },
      ...{ headers, hasBody, blobType, text, used: response.bodyUsed },
    };
  } catch (error) {
    assert(error instanceof Error);
    return `${error.name}, ${made ? "later" : "at once"}`;
  }
}

testOnNode(
  "NodeResponse looks like Response, whatever it is made of",
  async () => {
    const bytes = new TextEncoder().encode("hé");
    const cases: Arguments[] = [
      [],
      [null],
      [""],
      ["hé"],
      ["\ud800"],
      [bytes],
      [new Blob(["x"], { type: "text/html" })],
      [new URLSearchParams("a=b")],
      ["x", {}],
      ["x", { status: 404, statusText: "Gone fishing" }],
      ["x", { status: 600 }],
      ["x", { status: 101 }],
      ["x", { status: 200.5 }],
      ["x", { status: 204 }],
      ["x", { status: 304 }],
      [null, { status: 204 }],
      ["x", { statusText: "\n" }],
      ["x", { headers: { "Content-Type": "application/json", "x-a": "" } }],
      ["x", { headers: { "X-A": "1", "x-a": "2" } }],
      ["x", { headers: { "x-a": " padded\t" } }],
      ["x", { headers: { "x-a": "é" } }],
      ["x", { headers: { "x-a": "€" } }],
      ["x", { headers: { "x-a": "a\nb" } }],
      ["x", { headers: { "a b": "c" } }],
      ["x", { headers: { "a.b": "c" } }],
      ["x", { headers: { "x-n": 1 as unknown as string } }],
      ["x", { headers: new Headers({ "x-a": "1" }) }],
      ["x", { headers: [["set-cookie", "a=1"], ["set-cookie", "b=2"]] }],
    ];
    for (const args of cases) {
      const expected = await look(Response, args);
      assert.deepEqual(await look(NodeResponse, args), expected, inspect(args));
    }
  },
);

testOnNode(
  "NodeResponse is a Response to instanceof, and to whoever prints it",
  () => {
    const response = new NodeResponse("x", { headers: { "x-a": "1" } });
    assert(response instanceof Response);
    assert(response instanceof NodeResponse);
    assert.equal(Object.prototype.toString.call(response), "[object Response]");
    assert.match(inspect(response), /status: 200/);
  },
);

testOnNode("NodeResponse reads its body as any type", async () => {
  const make = (): Response => new NodeResponse('{"a":1}');
  assert.deepEqual(await make().json(), { a: 1 });
  assert.equal((await make().arrayBuffer()).byteLength, 7);
  assert.equal((await make().bytes()).length, 7);
  assert.equal((await make().blob()).size, 7);
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const form = await new NodeResponse("a=b", { headers }).formData();
  assert.equal(form.get("a"), "b");
  const read = make();
  await read.text();
  await assert.rejects(read.text(), TypeError);
  assert.throws(() => read.clone(), TypeError);
});

testOnNode("NodeResponse keeps what is done to its header", async () => {
  const response = new NodeResponse("x", { headers: { "x-a": "1" } });
  response.headers.set("x-a", "2");
  response.headers.append("set-cookie", "a=1");
  response.headers.append("set-cookie", "b=2");
  assert.equal(response.headers, response.headers);
  const before = response.clone();
  response.headers.set("x-a", "3");
  const after = response.clone();
  assert.equal(before.headers.get("x-a"), "2");
  assert.equal(after.headers.get("x-a"), "3");
  assert.deepEqual(after.headers.getSetCookie(), ["a=1", "b=2"]);
  assert.equal(response.headers.get("x-a"), "3");
  assert.equal(await after.text(), "x");
  assert.equal(await response.text(), "x");
});

testOnNode(
  "NodeResponse can be made into a Response by its parts",
  async () => {
    const { body, status } = new NodeResponse("x", { status: 201 });
    assert.equal(await new Response(body, { status }).text(), "x");
    const lazy = new NodeResponse("x", {
      status: 201,
      headers: { "x-a": "1" },
    });
    const response = new Response(lazy.body, lazy);
    assert.equal(response.status, 201);
    assert.equal(response.headers.get("x-a"), "1");
  },
);

testOnNode("NodeResponse has json, redirect and error", async () => {
  assert.deepEqual(await NodeResponse.json({ a: 1 }).json(), { a: 1 });
  const redirect = NodeResponse.redirect("http://a/b", 303);
  assert.equal(redirect.headers.get("location"), "http://a/b");
  assert.equal(NodeResponse.error().type, "error");
});

testOnNode(
  "NodeResponse sees what a frozen header says each time",
  async () => {
    let count = 0;
    const changing = Object.freeze({
      get "x-a"(): string {
        return String(++count);
      },
    });
    const first = new NodeResponse("x", { headers: changing });
    const second = new NodeResponse("x", { headers: changing });
    assert.equal(first.headers.get("x-a"), "1");
    assert.equal(second.headers.get("x-a"), "2");
    const cases: Record<string, string>[] = [
      { "x-a": "1", "Content-Type": "text/html" },
      { "x-a": "1" },
      { "x-a": " padded\t" },
      { "x-a": "a\nb" },
    ];
    for (const headers of cases) {
      const expected = await look(Response, ["x", { headers }]);
      Object.freeze(headers);
      for (let i = 0; i < 2; i++) {
        assert.deepEqual(
          await look(NodeResponse, ["x", { headers }]),
          expected,
        );
      }
    }
  },
);

testOnNode("NodeResponse sees what was changed in a header object", () => {
  const headers = { "x-a": "1" };
  new NodeResponse("x", { headers });
  headers["x-a"] = "2";
  const { headers: seen } = new NodeResponse("x", { headers });
  assert.equal(seen.get("x-a"), "2");
});
