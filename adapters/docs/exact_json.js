/** JSON with exact integers: `JSON.parse` alone rounds those beyond 2^53. Runs in the browser. */

/** Formats JSON; returns other text unchanged. */
export function layOut(text) {
  try {
    return JSON.stringify(JSON.parse(text, keepInteger), null, 2);
  } catch {
    return text; // not JSON, or an old browser
  }
}

function keepInteger(_key, value, { source }) {
  const isRounded = typeof value === "number" && !Number.isSafeInteger(value);
  return isRounded ? JSON.rawJSON(source) : value;
}

/** Turns examples into text, which Swagger UI shows and sends unchanged. */
export function exactExamples(key, value, context) {
  return key === "value"
    ? JSON.stringify(value, null, 2)
    : keepInteger(key, value, context);
}
