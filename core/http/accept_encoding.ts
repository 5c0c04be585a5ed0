/** `Accept-Encoding` (RFC 9110 §12.5.3). */

/** The content codings that this service supports. */
export type Coding = "gzip" | "identity";

/** A member of the list, with its weight: 0 to 1, by default 1. */
const MEMBER = /^\s*([^\s;]+)\s*(?:;\s*q=([01](?:\.\d{0,3})?)\s*)?$/;

/**
 * The codings that the client accepts, most preferred first. Without the header any is acceptable,
 * so `identity` comes first.
 */
export function acceptedCodings(
  field: string | null,
): readonly [Coding, ...Coding[]] {
  if (field === null) return ["identity", "gzip"];
  const weights = new Map<string, number>();
  for (const member of field.toLowerCase().split(",")) {
    const [, coding, weight = 1] = MEMBER.exec(member) ?? [];
    if (coding !== undefined) weights.set(coding, Number(weight));
  }
  const any = weights.get("*");
  const gzip = weights.get("gzip") ?? weights.get("x-gzip") ?? any ?? 0;
  // `identity`, which means no coding, is always acceptable unless refused: the last resort.
  const identity = weights.get("identity") ?? any ?? Number.MIN_VALUE;
  if (gzip === 0) return ["identity"];
  if (identity === 0) return ["gzip"];
  return gzip < identity ? ["identity", "gzip"] : ["gzip", "identity"];
}
