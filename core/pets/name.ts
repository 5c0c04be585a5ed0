/** The names of pets and of API keys. */

import * as v from "valibot";

/** The maximum number of code points in a name; the minimum is 1. */
export const MAX_NAME_LENGTH = 255;

/** Checks a name, which is kept exactly as sent: no trimming, no normalisation. */
export const nameSchema: v.GenericSchema<unknown, string> = v.pipe(
  v.string("must be a string"),
  v.nonEmpty("must not be empty"),
  v.check(
    (name) => name.isWellFormed(),
    "must be well-formed Unicode, without lone surrogates",
  ),
  v.regex(
    // deno-lint-ignore no-control-regex -- names must not contain them
    /^[^\u0000-\u001f\u007f]*$/,
    "must not contain control characters (U+0000 to U+001F, U+007F)",
  ),
  v.check(
    (name) => [...name].length <= MAX_NAME_LENGTH,
    `must have at most ${MAX_NAME_LENGTH} characters (Unicode code points)`,
  ),
);
