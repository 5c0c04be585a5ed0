/** JSON as a test reads it: exactly, and slowly. */

import { literalToInt64 } from "../../core/json.ts";

/**
 * Parses JSON text. A number that denotes an int64 becomes a `bigint`, however it is written; any other stays a
 * `number`.
 */
export function parseJson(text: string): unknown {
  // TypeScript has no type for the third argument yet. The source of a text is in quotes, and so no number's.
  const revive = (
    _key: string,
    value: unknown,
    context?: { readonly source?: string },
  ) => literalToInt64(String(context?.source)) ?? value;
  return JSON.parse(text, revive);
}
