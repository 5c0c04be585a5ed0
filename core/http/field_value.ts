/**
 * Tells whether the value of a header field can be sent (RFC 9110 §5.5). `Headers` takes control characters
 * too; to send one would end the process on Deno 2.9.
 */
export function isFieldValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}
