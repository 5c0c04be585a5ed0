/** SHA-256 by WebCrypto. */

/**
 * Returns the SHA-256 digest of bytes, or of a string in UTF-8, as 64 lower-case hexadecimal
 * digits.
 */
export async function sha256(content: string | BufferSource): Promise<string> {
  const bytes = typeof content === "string"
    ? new TextEncoder().encode(content)
    : content;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}
