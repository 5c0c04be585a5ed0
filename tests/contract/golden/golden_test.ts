/**
 * Exchanges as the contract shows them, byte for byte: of each file one after the other, on a fresh
 * service. The files change only when the contract does. A `message` may improve: it stands as `…`.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";
import { handleService } from "../handle_service.ts";

interface Exchange {
  readonly name: string;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
  };
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  };
}

const files = readdirSync(new URL(".", import.meta.url))
  .filter((name) => name.endsWith(".json")).sort();

test("there are golden files", () => {
  assert.deepEqual(files, [
    "create_pet.json",
    "get_pet.json",
    "list_pets.json",
    "routing.json",
  ]);
});

for (const file of files) {
  const text = readFileSync(new URL(file, import.meta.url), "utf8");
  const exchanges: readonly Exchange[] = JSON.parse(text);

  test(`handle answers as ${file} shows`, async () => {
    const { fetch } = handleService();
    for (const { name, request, response } of exchanges) {
      const { path, body = null, ...init } = request;
      const content = body === null ? null : new TextEncoder().encode(body);
      const answer = await fetch(
        new Request(`http://localhost${path}`, { ...init, body: content }),
      );
      assert.deepEqual(
        {
          status: answer.status,
          headers: Object.fromEntries(answer.headers),
          body: await shown(answer),
        },
        response,
        name,
      );
    }
  });
}

/** The bytes of an answer as text, the message of an Error as `…`. */
async function shown(answer: Response): Promise<string> {
  const bytes = await answer.arrayBuffer();
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
    .decode(bytes);
  if (answer.status < 400) return text;
  return text.replace(/"message":"(?:[^"\\]|\\.)+"/, '"message":"…"');
}
