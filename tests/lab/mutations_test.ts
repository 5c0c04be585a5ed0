import assert from "node:assert/strict";
import test from "node:test";
import { mutationsOf } from "./mutations.ts";
import { RUNTIME } from "../support/runtime.ts";

const skip = RUNTIME === "bun" && "Bun cannot remove types";

/** A source, and all that it can become. */
const CASES: Readonly<Record<string, readonly string[]>> = {
  "let a = b as C ?? 0;": [
    "let a = b as C && 0;",
    "let a = b as C || 0;",
    "let a = b as C ?? 1;",
    "let a = b as C ?? 2;",
  ],
  "const LONG = 2 * 30;": [
    "const LONG = 10 * 2 * 30;",
    "const LONG = 2 / 30;",
    "const LONG = 2 + 30;",
    "const LONG = 3 * 30;",
    "const LONG = 1 * 30;",
    "const LONG = 2 * 31;",
    "const LONG = 2 * 29;",
  ],
  "const SOME = new Set([a, ...b]);": [
    "const SOME = new Set([...[], ...b]);",
    "const SOME = new Set([a, ...[]]);",
  ],
  "call(\n  a,\n);": [";"],
  "let a = { ...await b };": ["let a = { ...[] };", "let a = { ...(b) };"],
  "try { throw a; } catch { b(); } finally { c(); }": [
    "try { throw a; } catch {} finally { c(); }",
    'try { throw a; } catch { throw new Error("mutant"); } finally { c(); }',
    "try { throw a; } catch { b(); } finally {}",
    "try { ; } catch { b(); } finally { c(); }",
    "try { throw a; } catch { ; } finally { c(); }",
    "try { throw a; } catch { b(); } finally { ; }",
  ],
  "let a = b.catch(c);": ["let a = b;"],
  "let a = b.then(c, d);": ["let a = b.then(c, undefined);"],
  "let a = Math.max(b, !c);": [
    "let a = Math.min(b, !c);",
    "let a = Math.max(b, (c));",
  ],
  "let a = /^[*+]b+(?:\\$){2,3}?$/;": [
    "let a = /[*+]b+(?:\\$){2,3}?$/;",
    "let a = /^[*+]b*(?:\\$){2,3}?$/;",
    "let a = /^[*+]b+(?:\\$){2,4}?$/;",
    "let a = /^[*+]b+(?:\\$){2,3}$/;",
    "let a = /^[*+]b+(?:\\$){2,3}?/;",
  ],
  "let a = `SELECT b WHERE c <= ${d} AND e IS NOT NULL LIMIT 1`;": [
    "let a = `SELECT b WHERE c < ${d} AND e IS NOT NULL LIMIT 1`;",
    "let a = `SELECT b WHERE c <= ${d} OR e IS NOT NULL LIMIT 1`;",
    "let a = `SELECT b WHERE c <= ${d} AND e IS NULL LIMIT 1`;",
    "let a = `SELECT b WHERE c <= ${d} AND e IS NOT NULL LIMIT 1 + 1`;",
  ],
  "let a = b / 1e6;": [
    "let a = b * 1e6;",
    "let a = b / 0;",
    "let a = b / 10 * 1e6;",
  ],
  'import a from "b"; type C = "d" | 1;': [],
};

for (const [source, expected] of Object.entries(CASES)) {
  test(`all that can be changed in ${JSON.stringify(source)}`, { skip }, () => {
    const changed = mutationsOf(source).map(({ start, end, to }) =>
      source.slice(0, start) + to + source.slice(end)
    );
    assert.deepEqual(changed, expected);
  });
}

test(
  "strings of several words are left out if people read them",
  { skip },
  () => {
    const source = 'call("one", "two words");';
    const texts = mutationsOf(source, { isProse: true })
      .map(({ start, end }) => source.slice(start, end));
    assert.deepEqual(texts, [source, '"one"']);
  },
);
