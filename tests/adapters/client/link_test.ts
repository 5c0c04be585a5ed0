/** The Link header field, against a second reading of RFC 8288. */
import assert from "node:assert/strict";
import test from "node:test";
import { nextTarget, parseLinks } from "../../../adapters/client/link.ts";
import { fc } from "../../support/property.ts";

/** The target of the next page in a field; `undefined` if there is none; throws if it is malformed. */
function next(field: string): string | undefined {
  const links = parseLinks(field);
  assert.ok(links, `malformed: ${field}`);
  return nextTarget(links);
}

test("parseLinks ends on any text, and quickly", () => {
  const unit = fc.constantFrom(...'<>;,="\\ \tarel/');
  fc.assert(fc.property(fc.string({ unit, maxLength: 60 }), (text) => {
    const links = parseLinks(text);
    assert.ok(links === undefined || Array.isArray(links));
  }));
  for (const part of ["<a>;", '<a>;x="\\', "<a> \t", ",", "<a>; x ", "<"]) {
    const started = performance.now();
    parseLinks(part.repeat(100_000 / part.length));
    assert.ok(performance.now() - started < 1000, part);
  }
});

test("the next page is found among several links, parameters and relation types", () => {
  assert.equal(next('<?after=7>; rel="next"'), "?after=7");
  assert.equal(next("<?after=7>;rel=next"), "?after=7");
  assert.equal(next('<a> ; rel = "ne\\xt"'), "a");
  assert.equal(next('<a>; rel="prev", <b>; rel="next"'), "b");
  assert.equal(next('<a>; rel="first prev", <b>; rel="last  NEXT"'), "b");
  assert.equal(next('<a>; title="x, <y>; rel=next", <b>; REL=Next'), "b");
  assert.equal(next('<a>; title="\\"; rel=next; x=\\""'), undefined);
  assert.equal(next("<a,b;c>; rel=next"), "a,b;c");
  assert.equal(next("<>; rel=next"), "");
});

test("a link is not the next page only because it looks like one", () => {
  assert.equal(next('<a>; rel="nextish"'), undefined);
  assert.equal(next('<a>; rel="next-archive"'), undefined);
  assert.equal(next('<a>; rel="http://example.com/next"'), undefined);
  assert.equal(next('<a>; title="next"'), undefined);
  assert.equal(next("<a>; rev=next"), undefined);
  assert.equal(next('<a>; rel="prev"; rel="next"'), undefined);
  assert.equal(next('<a>; rel="next"; anchor="/other"'), undefined);
  assert.equal(next("<a>"), undefined);
  assert.equal(next(""), undefined);
  assert.equal(next("</pets>; rel=successor-version"), undefined);
});

test("a malformed Link header is not taken for one without links", () => {
  for (
    const field of [
      ...["next", "a>; rel=next", "<a; rel=next", '<a>; rel="next'],
      ...["<a> rel=next", "<a>; rel=next <b>", "<a><b>; rel=next"],
      ...["<a>; rel=next, b", '<a>; rel="prev"; x="\\', '<a>; rel=pr"ev'],
    ]
  ) {
    assert.equal(parseLinks(field), undefined, field);
  }
});
