/** Laws of `Location` and `Link` (decision: links that the service sends). */
import assert from "node:assert/strict";
import test from "node:test";
import { ask, linked } from "../contract/ask.ts";
import { handleService } from "../support/handle_service.ts";

const REX = '{"name":"Rex","categoryId":1,"status":"sold"}';

/**
 * Follows every link, each resolved, as a client does, against the requested address; `reach`
 * returns the service's own address for it.
 */
async function follow(
  { baseUrl, base, reach }: {
    readonly baseUrl: string;
    /** The base address as the client has it. */
    readonly base: string;
    readonly reach: (address: string) => string;
  },
): Promise<void> {
  const service = { ...handleService({ baseUrl }), base };
  const get = (address: string) => ask(service, "GET", reach(address));
  const from = `${base}/pets`;
  for (const id of [1, 2, 3]) {
    const created = await ask(service, "POST", reach(from), { body: REX });
    assert.equal(created.status, 201, created.text);
    const location = created.headers.get("location") ?? "";
    const pet = await get(new URL(location, from).href);
    assert.equal(pet.text, created.text, `${id}`);
    assert.equal(JSON.parse(pet.text).id, id);
  }
  const first = `${from}?limit=2&status=sold`;
  const next = linked(await get(first), { rel: "next", from: first });
  assert.ok(next !== undefined);
  const second = await get(next);
  assert.equal(JSON.parse(second.text)[0].id, 3);
  const one = `${from}/1`;
  const all = linked(await get(one), { rel: "successor-version", from: one });
  assert.ok(all !== undefined);
  assert.equal(JSON.parse((await get(all)).text).length, 3);
}

// Law: under a path, links are relative and work wherever the service is reached, on any host and
// behind any prefix that a proxy removes; under an absolute URL they are absolute.
test("every link leads under the base address, behind any proxy, mount and Host", async () => {
  // The characters of a segment (RFC 3986 §3.3), in normal form.
  const paths = [
    "",
    "/v1",
    "/a/b/v1",
    "/az09-_~!$&'()*+,;=:@./%20%2F%3F%C3%A9",
  ];
  const origins = [
    "http://a",
    "https://shop.example.com",
    "https://[::1]:8443",
  ];
  for (const basePath of paths) {
    for (const origin of origins) {
      for (const mount of [undefined, ...paths]) {
        const home = origin + (mount ?? "");
        const base = home + basePath;
        await follow({
          baseUrl: mount === undefined ? base : basePath || "/",
          base,
          reach(address) {
            assert.ok(address.startsWith(`${base}/pets`), address);
            return `http://localhost${address.slice(home.length)}`;
          },
        });
      }
    }
  }
});
