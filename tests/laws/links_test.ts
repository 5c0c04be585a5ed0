/** Laws of `Location` and `Link` (decision: links that the service emits). */
import assert from "node:assert/strict";
import test from "node:test";
import { ask, linked } from "../contract/ask.ts";
import { handleService } from "../contract/handle_service.ts";
import { fc, runs } from "../support/property.ts";

const REX = '{"name":"Rex","categoryId":1,"status":"sold"}';

// pchar (RFC 3986 §3.3) in normal form; a segment of dots would be taken away.
const segment = fc.string({
  unit: fc.oneof(
    fc.constantFrom(..."azAZ09-_~!$&'()*+,;=:@."),
    fc.constantFrom("%20", "%2F", "%C3%A9", "%3F"),
  ),
  minLength: 1,
  maxLength: 8,
}).filter((text) => !/^\.+$/.test(text));
const path = fc.array(segment, { maxLength: 3 }).map((all) =>
  all.map((each) => `/${each}`).join("")
);
const origin = fc.tuple(
  fc.constantFrom("http", "https"),
  fc.oneof(fc.domain(), fc.ipV4(), fc.ipV6().map((ip) => `[${ip}]`)),
  fc.option(fc.integer({ min: 1, max: 65535 })),
).map(([scheme, host, port]) =>
  `${scheme}://${host}${port === null ? "" : `:${port}`}`
)
  // Bun 1.4 knows no IPv6 address that ends in an IPv4 one after a short "::".
  .filter((url) => URL.canParse(url)).map((url) => new URL(url).origin);

/**
 * Follows every link there is, each resolved as a client does against the address that it asked;
 * `reach` tells which address of the service that is.
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
    assert.equal(pet.text, created.text);
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

// Law: under a path, links are relative and hold wherever the service is reached, whatever host it is and
// whatever a proxy puts before the path and takes away again; under an absolute URL they are absolute.
test("every link leads under the base address, behind any proxy, any mount and any Host", async () => {
  await fc.assert(
    fc.asyncProperty(
      path,
      origin,
      path,
      fc.boolean(),
      async (basePath, outside, mount, isAbsolute) => {
        const home = outside + (isAbsolute ? "" : mount);
        const base = home + basePath;
        await follow({
          baseUrl: isAbsolute ? base : basePath === "" ? "/" : basePath,
          base,
          reach(address) {
            assert.ok(address.startsWith(`${base}/pets`), address);
            return `http://localhost${address.slice(home.length)}`;
          },
        });
      },
    ),
    runs(150),
  );
});
