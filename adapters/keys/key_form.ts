/**
 * The form of an issued key: `pet_`, 32 random base62 characters, and 6 more that are their CRC-32.
 */

const FORM = /^pet_[0-9A-Za-z]{38}$/;
const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Makes a random key. */
export function generateKey(): string {
  // 32 bits each, so that the characters' probabilities differ by less than one in ten million.
  const numbers = crypto.getRandomValues(new Uint32Array(32));
  const random = Array.from(numbers, (number) => BASE62.charAt(number % 62))
    .join("");
  return `pet_${random}${checksum(random)}`;
}

/** Tells whether a string has the form of an issued key, including the checksum. */
export function isIssuedForm(text: string): boolean {
  return FORM.test(text) && text.slice(-6) === checksum(text.slice(4, -6));
}

/** CRC-32 (ISO 3309, as in gzip) of ASCII text, as 6 base62 digits, most significant first. */
function checksum(text: string): string {
  let crc = 0xffffffff;
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i);
    for (let bit = 0; bit < 8; bit++) {
      crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    }
  }
  let rest = (crc ^ 0xffffffff) >>> 0;
  let digits = "";
  for (let i = 0; i < 6; i++) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
