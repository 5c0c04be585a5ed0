/** Laws of issued keys (decision: API keys): `pet_`, 32 of base62, and 6 that are their CRC-32. */
import assert from "node:assert/strict";
import test from "node:test";
import { generateKey, isIssuedForm } from "../../adapters/keys/key_form.ts";
import { crc32 } from "node:zlib";
import { fc } from "../support/property.ts";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** The CRC-32 of a text as six digits of base62. */
function checksumOf(text: string): string {
  let value = crc32(text);
  let digits = "";
  for (let i = 0; i < 6; i++) {
    digits = BASE62.charAt(value % 62) + digits;
    value = Math.floor(value / 62);
  }
  return digits;
}

const random = fc.string({
  unit: fc.constantFrom(...BASE62),
  minLength: 32,
  maxLength: 32,
});

// Law: a text has the form of an issued key exactly if its last 6 characters are the CRC-32 of the
// 32 before.
test("isIssuedForm takes the one checksum that is right", () => {
  fc.assert(fc.property(random, random, (text, other) => {
    const checksum = checksumOf(text);
    assert.equal(isIssuedForm(`pet_${text}${checksum}`), true);
    const wrong = other.slice(0, 6);
    assert.equal(isIssuedForm(`pet_${text}${wrong}`), wrong === checksum);
  }));
});

// Law: a generated key has the form, and no two are alike (190 bits at random).
test("generateKey makes keys of the form that are all different", () => {
  const keys = Array.from({ length: 500 }, generateKey);
  for (const key of keys) {
    assert.equal(key.length, 42, key);
    assert.equal(key.slice(0, 4), "pet_", key);
    assert.equal(key.slice(36), checksumOf(key.slice(4, 36)), key);
  }
  assert.equal(new Set(keys).size, keys.length);
});
