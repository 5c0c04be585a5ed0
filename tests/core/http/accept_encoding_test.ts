import assert from "node:assert/strict";
import test from "node:test";
import { acceptedCodings } from "../../../core/http/accept_encoding.ts";

test("acceptedCodings goes by weight, and takes what it cannot read for absent", () => {
  const fields: Readonly<Record<string, readonly (string | null)[]>> = {
    "identity gzip": [null, "gzip;q=0.5, identity", "*;q=0.1, identity;q=0.2"],
    "gzip identity": ["gzip", "br, GZIP", "x-gzip", "gzip ; q=0.001", "*"]
      .concat("gzip;q=0.5,identity;q=0.5", "br;q=1.0, gzip;q=0.8, *;q=0.1"),
    identity: ["", " , ", "br", "identity", "gzip;q=0", "gzip;q=0.000, *"]
      .concat("*;q=0", "identity;q=0", "gzip;q=2", "gzip;q=-1", "gzip q=1")
      .concat("gzip;q=", "gzip;level=9", "gzipped", "br;q=gzip", "a gzip"),
    gzip: ["gzip, identity;q=0", "gzip;q=0.1, *;q=0"],
  };
  for (const [expected, sent] of Object.entries(fields)) {
    for (const field of sent) {
      assert.equal(acceptedCodings(field).join(" "), expected, `${field}`);
    }
  }
});
