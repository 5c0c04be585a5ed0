/**
 * Values that clauses send in addition to their examples, generated from a seed: the same seed
 * gives the same values.
 */

/** Returns a number from 0 to `below` - 1. */
export type Random = (below: number) => number;

/** The numbers of a seed (xorshift32). */
export function randomFrom(seed: number): Random {
  let state = seed | 1; // never 0, which yields only 0
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

/** Texts of 20 letters that together have one of every Unicode block. */
export function anyTexts(random: Random): readonly string[] {
  const letters: string[] = [];
  // Beyond U+20000 there are few blocks, of many letters.
  for (let row = 0x80; row < 0x110000; row += row < 0x20000 ? 0x80 : 0x1000) {
    const block = Array.from(
      { length: 0x80 },
      (_, i) => String.fromCodePoint(row + i),
    ).filter((letter) => /[^\p{Cn}\p{Cc}\p{Cs}\p{Z}]/u.test(letter));
    const letter = block[random(block.length)];
    if (letter !== undefined) letters.push(letter);
  }
  const texts: string[] = [];
  while (letters.length > 0) texts.push(letters.splice(0, 20).join(""));
  return texts;
}

/** Integers around each power of two that bounds a type. */
export function anyIntegers(random: Random): readonly bigint[] {
  const bounds = [7n, 8n, 15n, 16n, 31n, 32n, 53n, 63n, 64n];
  return bounds.flatMap((bits) => {
    const bound = 2n ** bits;
    const less = bound - BigInt(1 + random(49)) * bound / 100n - 1n;
    return [bound - 1n, bound, bound + 1n, -bound, -bound - 1n, less, -less];
  });
}

/** JSON numbers with a fraction, which a double loses for most of them. */
export function anyFractions(random: Random): readonly string[] {
  const digit = (): number => 1 + random(9);
  return [
    ...[2n ** 53n, 2n ** 62n, BigInt(random(1000))].flatMap((integer) => [
      `${integer}.${digit()}`,
      `-${integer}.0000000000000000000${digit()}`,
    ]),
    `${digit()}${digit()}e-2`,
    `0.${digit()}`,
  ];
}

/** Variants of a text: in another case, longer, shorter, or padded. */
export function almost(text: string, random: Random): readonly string[] {
  const at = random(text.length);
  const one = text.charAt(at).toUpperCase();
  return [
    text.toUpperCase(),
    text.slice(0, at) + one + text.slice(at + 1),
    text.slice(0, at),
    text.slice(1),
    text + text.charAt(at),
    ` ${text}`,
    ...[" ", "\n", "\0", "\u00a0"].map((blank) => text + blank),
  ];
}
