/** Laws of issued keys (decision: API keys): `pet_`, 32 of base62, and 6 that are their CRC-32. */
import assert from "node:assert/strict";
import test from "node:test";
import { generateKey, isIssuedForm } from "../../core/keys/key_form.ts";
import { fc } from "../support/property.ts";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/**
 * CRC-32 as ISO 3309 has it: the remainder of a division of polynomials over GF(2), here done with
 * one big number and by the book, the bits of each byte from the least.
 */
function crc32(text: string): bigint {
  const reverse = (value: bigint, width: number): bigint =>
    BigInt(
      `0b${[...value.toString(2).padStart(width, "0")].reverse().join("")}`,
    );
  let message = 0n;
  for (const byte of new TextEncoder().encode(text)) {
    message = (message << 8n) | reverse(BigInt(byte), 8);
  }
  const bits = BigInt(text.length * 8);
  message = (message << 32n) ^ (0xffffffffn << bits);
  for (let at = bits + 31n; at >= 32n; at--) {
    if ((message >> at) & 1n) message ^= 0x104c11db7n << (at - 32n);
  }
  return reverse(message, 32) ^ 0xffffffffn;
}

function base62(value: bigint): string {
  let text = "";
  for (let i = 0; i < 6; i++) {
    text = BASE62.charAt(Number(value % 62n)) + text;
    value /= 62n;
  }
  return text;
}

const random = fc.string({
  unit: fc.constantFrom(...BASE62),
  minLength: 32,
  maxLength: 32,
});

test("the oracle knows the check value of CRC-32", () => {
  assert.equal(crc32("123456789"), 0xcbf43926n); // RFC 3385, and every catalogue of CRCs
});

// Law: a text has the form of an issued key exactly if its last 6 characters are the CRC-32 of the
// 32 before.
test("isIssuedForm takes the one checksum that is right", () => {
  fc.assert(fc.property(random, random, (text, other) => {
    const checksum = base62(crc32(text));
    assert.equal(isIssuedForm(`pet_${text}${checksum}`), true);
    const wrong = other.slice(0, 6);
    assert.equal(isIssuedForm(`pet_${text}${wrong}`), wrong === checksum);
  }));
});

// Law: a generated key has the form, and no two are alike (190 bits at random).
test("generateKey makes keys of the form that are all different", () => {
  const keys = Array.from({ length: 500 }, generateKey);
  for (const key of keys) {
    assert.equal(key.length, 42);
    assert.equal(key.slice(0, 4), "pet_");
    assert.equal(key.slice(36), base62(crc32(key.slice(4, 36))));
  }
  assert.equal(new Set(keys).size, keys.length);
});

// Law: no character is likelier than another. Each of the 62 stands about 2065 times in 4000 keys,
// give or take 45; a byte taken modulo 62 would make eight of them stand 2500 times.
test("generateKey takes every character of base62 alike", () => {
  const counts = new Map<string, number>();
  for (let i = 0; i < 4000; i++) {
    for (const character of generateKey().slice(4, 36)) {
      counts.set(character, (counts.get(character) ?? 0) + 1);
    }
  }
  assert.equal(counts.size, 62);
  for (const [character, count] of counts) {
    assert.ok(count > 1795 && count < 2335, `${character}: ${count}`);
  }
});
