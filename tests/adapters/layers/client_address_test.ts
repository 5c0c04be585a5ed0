import assert from "node:assert/strict";
import test from "node:test";
import {
  clientAddress,
  networkOf,
} from "../../../adapters/layers/client_address.ts";

const request = new Request("http://localhost/");

test("clientAddress reads what each runtime hands over, and is empty if there is none", () => {
  const ip = "192.0.2.1";
  const deno = { remoteAddr: { hostname: ip } };
  const bun = {
    address: ip,
    requestIP(asked: Request) {
      return asked === request ? { address: this.address } : null;
    },
  };
  for (const connection of [deno, bun, { remoteAddress: ip }]) {
    assert.equal(
      clientAddress(request, connection),
      ip,
      JSON.stringify(connection),
    );
  }
  const gone = [{}, { remoteAddr: {} }, { requestIP: () => null }];
  for (const connection of gone) {
    assert.equal(
      clientAddress(request, connection),
      "",
      JSON.stringify(connection),
    );
  }
});

// By the value of X-Forwarded-For: the client behind one proxy, and behind two. `-` is the socket's
// address.
const cases = [
  [[], "-", "-"],
  [["192.0.2.1"], "192.0.2.1", "-"],
  [["6.6.6.6, 192.0.2.1"], "192.0.2.1", "6.6.6.6"],
  [["6.6.6.6, 192.0.2.1,\t192.0.2.9 "], "192.0.2.9", "192.0.2.1"],
  [["6.6.6.6", "192.0.2.1, 192.0.2.9"], "192.0.2.9", "192.0.2.1"],
  [["192.0.2.1", "192.0.2.9"], "192.0.2.9", "192.0.2.1"],
  [["192.0.2.1:65000"], "192.0.2.1", "-"],
  [["2001:db8::1"], "2001:db8::1", "-"],
  [["[2001:db8::1]"], "2001:db8::1", "-"],
  [["[2001:db8::1]:443"], "2001:db8::1", "-"],
  [["::ffff:1.1.1.1"], "1.1.1.1", "-"],
  [["0:0:0:0:0:ffff:192.0.2.1"], "192.0.2.1", "-"],
  [["0000::FFFF:C000:0201"], "192.0.2.1", "-"],
  [["::fffe:c000:201"], "::fffe:c000:201", "-"],
  [["::ffff:0:c000:201"], "::ffff:0:c000:201", "-"],
  [["[::FFFF:101:101]:443"], "1.1.1.1", "-"],
  [["6.6.6.6, unknown"], "-", "6.6.6.6"],
  [["6.6.6.6,"], "-", "6.6.6.6"],
  [["192.0.2.256"], "-", "-"],
  [["1:2:3:4:5:6:7:8:9"], "-", "-"],
  [["[192.0.2.1"], "-", "-"],
  [["for=192.0.2.1"], "-", "-"],
] as const;
for (const [lines, one, two] of cases) {
  test(`clientAddress believes as many proxies as there are: ${JSON.stringify(lines)}`, () => {
    const headers = new Headers({ forwarded: "for=6.6.6.6" });
    for (const line of lines) headers.append("x-forwarded-for", line);
    const request = new Request("http://localhost/", { headers });
    const read = (proxies: number) =>
      clientAddress(request, { remoteAddress: "-" }, { proxies });
    assert.deepEqual([read(0), read(1), read(2)], ["-", one, two]);
  });
}

test("clientAddress is the IPv4 address of a client of a dual-stack socket", () => {
  const connection = { remoteAddress: "::ffff:1.1.1.1" };
  assert.equal(clientAddress(request, connection), "1.1.1.1");
});

test("networkOf is the /64 of an IPv6 address, and an IPv4 address itself", () => {
  const cases = [
    ["::1", "0:0:0:0"],
    ["::", "0:0:0:0"],
    ["2001:db8::1", "2001:db8:0:0"],
    ["2001:DB8::1", "2001:db8:0:0"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:db8:1:2:3::", "2001:db8:1:2"],
    ["2001:db8::2:3:4:5:6", "2001:db8:0:2"],
    ["2001:0db8:0000::1", "2001:db8:0:0"],
    ["fe80::1%eth0", "fe80:0:0:0"],
    ["1:2:3:4:5:6:7:8%a:b:c", "1:2:3:4"], // isIP takes any zone
    ["192.0.2.1", "192.0.2.1"],
    ["", ""],
  ] as const;
  for (const [address, expected] of cases) {
    assert.equal(networkOf(address), expected, address);
  }
});
