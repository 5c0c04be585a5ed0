import assert from "node:assert/strict";
import test from "node:test";
import { generateKey, isIssuedForm } from "../../../core/keys/key_form.ts";

test("generateKey makes pet_, 32 characters of base62, and 6 of CRC-32", () => {
  const key = generateKey();
  assert.match(key, /^pet_[0-9A-Za-z]{38}$/);
  assert.equal(isIssuedForm(key), true);
});

test("isIssuedForm knows the CRC-32 of known text", () => {
  // zlib.crc32(b"0" * 32) is 0xa0f292d0, which is 2wjyrI in base62.
  assert.equal(isIssuedForm(`pet_${"0".repeat(32)}2wjyrI`), true);
});

test("isIssuedForm refuses any other text", () => {
  const key = generateKey();
  const last = key.endsWith("0") ? "1" : "0";
  const others = [
    "",
    "pet_",
    key.slice(0, -1),
    `${key}0`,
    ` ${key}`,
    `${key}\n`,
    key.slice(0, -1) + last,
    `Pet_${key.slice(4)}`,
    `pet-${key.slice(4)}`,
    key.slice(4),
  ];
  for (const text of others) assert.equal(isIssuedForm(text), false, text);
});
