import assert from "node:assert/strict";
import test from "node:test";
import { peerAddress } from "../../../adapters/standalone/rate_limit.ts";

const request = new Request("http://localhost/");

test("peerAddress reads what Deno, Bun and Node hand over", () => {
  const ip = "192.0.2.1";
  const deno = { remoteAddr: { hostname: ip } };
  const bun = {
    address: ip,
    requestIP(asked: Request) {
      return asked === request ? { address: this.address } : null;
    },
  };
  for (const connection of [deno, bun, { remoteAddress: ip }]) {
    assert.equal(peerAddress(request, connection), ip);
  }
});

test("peerAddress is empty if the client is gone", () => {
  const gone = [{}, { remoteAddr: {} }, { requestIP: () => null }];
  for (const connection of gone) {
    assert.equal(peerAddress(request, connection), "");
  }
});

test("peerAddress is the /64 of an IPv6 address, and a mapped IPv4 address is itself", () => {
  for (
    const [address, expected] of [
      ["::1", "0:0:0:0"],
      ["::", "0:0:0:0"],
      ["2001:db8::1", "2001:db8:0:0"],
      ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
      ["2001:db8:1:2:3::", "2001:db8:1:2"],
      ["2001:db8::2:3:4:5:6", "2001:db8:0:2"],
      ["fe80::1%eth0", "fe80:0:0:0"],
      ["::ffff:192.0.2.1", "192.0.2.1"],
      ["::FFFF:192.0.2.1", "192.0.2.1"],
      ["192.0.2.1", "192.0.2.1"],
    ] as const
  ) {
    assert.equal(
      peerAddress(request, { remoteAddress: address }),
      expected,
      address,
    );
  }
});
