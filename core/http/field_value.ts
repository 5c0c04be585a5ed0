/**
 * Tells whether the value of a header field can be sent (RFC 9110 §5.5). `Headers` accepts control
 * characters, but Deno 2.9 ends the process when it sends one: its HTTP/1.1 writer
 * (denoland/deno#34446) asserts that there is none. On Deno this check can go if
 * tests/adapters/http/fetch_server_test.ts passes when this returns true.
 */
export function isFieldValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}
