/** JSON with all digits: `JSON.parse` alone rounds integers beyond 2^53. Runs in the browser. */

/** Lays out JSON; other text stays as it is. */
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

/** Makes text of the values of examples, which Swagger UI shows and sends as it is. */
export function exactExamples(key, value, context) {
  return key === "value"
    ? JSON.stringify(value, null, 2)
    : keepInteger(key, value, context);
}
