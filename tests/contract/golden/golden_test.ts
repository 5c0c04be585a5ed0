/**
 * Exchanges as the contract shows them, byte for byte and with every header field, one after the other
 * on one service. They change only when the contract does. A `message` may improve: it stands as `…`.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { handleService } from "../handle_service.ts";

/** The first line of a message, its header fields and its body. */
function parse(text: string): {
  readonly first: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
} {
  const [head = "", body = ""] = text.split("\n\n", 2);
  const [first = "", ...lines] = head.split("\n");
  const fields = lines.map((line) => line.split(/: (.*)/, 2));
  return { first, headers: Object.fromEntries(fields), body };
}

const golden = readFileSync(new URL("exchanges.txt", import.meta.url), "utf8");
const { fetch } = handleService();

for (const exchange of golden.trimEnd().split("\n---\n")) {
  const [question = "", answer = ""] = exchange.split("\n=>\n");
  const { first, headers, body } = parse(question);

  test(`handle answers ${first} as the contract shows: ${answer.slice(0, 3)}`, async () => {
    const [method = "", path] = first.split(" ");
    const response = await fetch(
      new Request(`http://localhost${path}`, {
        method,
        headers,
        body: body === "" ? null : new TextEncoder().encode(body),
      }),
    );
    const text = await response.text();
    const message = /"message":"(?:[^"\\]|\\.)+"/;
    assert.deepEqual({
      first: `${response.status}`,
      headers: Object.fromEntries(response.headers),
      body: response.ok ? text : text.replace(message, '"message":"…"'),
    }, parse(answer));
  });
}
