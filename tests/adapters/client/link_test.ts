/** The Link header field, against a second reading of RFC 8288. */
import assert from "node:assert/strict";
import test from "node:test";
import {
  type Link,
  nextTarget,
  parseLinks,
} from "../../../adapters/client/link.ts";
import { fc } from "../../support/property.ts";

/** The target of the next page in a field; `undefined` where there is none; throws where malformed. */
function next(field: string): string | undefined {
  const links = parseLinks(field);
  assert.ok(links, `malformed: ${field}`);
  return nextTarget(links);
}

const TOKEN = "!#$%&'*+-.^_`|~09azAZ";
const token = fc.string({
  unit: fc.constantFrom(...TOKEN),
  minLength: 1,
  maxLength: 5,
});
const ows = fc.constantFrom("", "", " ", "\t", "  \t");
// What a quoted string may hold, the characters that would end something else above all.
const text = fc.string({
  unit: fc.constantFrom(...'",;<>=\\ \t/?&abcé'),
  maxLength: 8,
});
const target = fc.string({
  unit: fc.constantFrom(..."/?&=,;\"' ab7%"),
  maxLength: 8,
});

/** A parameter: what it means, and one of the ways to write it. */
const parameter = fc.oneof(
  fc.record({ name: token, value: token, form: fc.constant("token") }),
  fc.record({ name: token, value: text, form: fc.constant("quoted") }),
  fc.record({
    name: token,
    value: fc.constant(""),
    form: fc.constantFrom("bare", "nothing"),
  }),
).chain(({ name, value, form }) =>
  fc.tuple(ows, ows, ows, ows).map(([a, b, c, d]) => {
    const quoted = value.replaceAll(
      /["\\]/g,
      (character) => `\\${character}`,
    );
    const written = {
      token: `${name}${c}=${d}${value}`,
      quoted: `${name}${c}=${d}"${quoted}"`,
      bare: name,
      nothing: "",
    }[form];
    return {
      means: form === "nothing" ? undefined : [name, value] as const,
      written: `${a};${b}${written}`,
    };
  })
);
const link = fc.tuple(target, fc.array(parameter, { maxLength: 4 }));

// parse(write(links)) is links, however they are written.
test("parseLinks reads back any links, in any way of writing them", () => {
  const separator = fc.tuple(ows, fc.constantFrom(",", ",,", ", ,"), ows)
    .map((parts) => parts.join(""));
  fc.assert(fc.property(
    fc.array(fc.tuple(link, separator), { minLength: 1, maxLength: 4 }),
    fc.tuple(fc.constantFrom("", " ", ",", " , "), fc.constantFrom("", " ,")),
    (links, [before, after]) => {
      const field = links.map(([[target, parameters]], i) => {
        const separator = i === 0 ? "" : links[i - 1]?.[1];
        return `${separator}<${target}>${
          parameters.map(({ written }) => written).join("")
        }`;
      }).join("");
      const expected = links.map(([[target, parameters]]): Link => ({
        target,
        parameters: new Map(
          parameters.flatMap(({ means }) =>
            means === undefined ? [] : [[means[0].toLowerCase(), means[1]]]
          ).reverse() as [string, string][], // so that the first of a name counts
        ),
      }));
      const parsed = parseLinks(before + field + after);
      assert.deepEqual(
        parsed?.map(sorted),
        expected.map(sorted),
        before + field + after,
      );
    },
  ));
});

function sorted({ target, parameters }: Link): unknown {
  return { target, parameters: Object.fromEntries([...parameters].sort()) };
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
      "next",
      "a>; rel=next",
      "<a; rel=next",
      '<a>; rel="next',
      "<a> rel=next",
      "<a>; rel=next <b>",
      "<a><b>; rel=next",
      "<a>; rel=next, b",
      '<a>; rel="prev"; x="\\',
      '<a>; rel=pr"ev',
    ]
  ) {
    assert.equal(parseLinks(field), undefined, field);
  }
});
