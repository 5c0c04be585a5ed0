/** Reads the `Link` header field (RFC 8288), which says where the next page is. */

/** One link of a `Link` header field. */
export interface Link {
  /** The reference between `<` and `>`, as it was sent. */
  readonly target: string;
  /** Parameters by name in lower case; the first of those that are given twice (RFC 8288 §3). */
  readonly parameters: ReadonlyMap<string, string>;
}

// Commas beyond the one between two links are empty list elements (RFC 9110 §5.6.1.2).
const SEPARATOR = /[ \t]*(?:,[ \t,]*|$)/y;
const TARGET = /<([^<>]*)>/y;
// A name, a name with a token, a name with a quoted string, or nothing (RFC 8288, appendix B.3).
const PARAMETER =
  /[ \t]*;[ \t]*(?:([^\s"<>=;,]+)(?:[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s"<>;,]*)))?)?/y;

/** Parses `Link` header fields joined by commas; `undefined` if they are malformed. */
export function parseLinks(field: string): Link[] | undefined {
  const links: Link[] = [];
  let position = 0;
  // Matches a pattern where the last match ended.
  function take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = position;
    const match = pattern.exec(field);
    position += match?.[0].length ?? 0;
    return match;
  }

  take(/[ \t,]*/y);
  while (position < field.length) {
    const target = take(TARGET)?.[1];
    if (target === undefined) return undefined;
    const parameters = new Map<string, string>();
    for (let match = take(PARAMETER); match !== null; match = take(PARAMETER)) {
      const [, name = "", quoted, token = ""] = match;
      const key = name.toLowerCase();
      if (name === "" || parameters.has(key)) continue;
      parameters.set(key, quoted?.replace(/\\(.)/g, "$1") ?? token);
    }
    links.push({ target, parameters });
    if (take(SEPARATOR) === null) return undefined;
  }
  return links;
}

/**
 * Finds the target of the first link to the next page: `next` is among its relation types, in any case
 * (RFC 8288 §3.3), and it has no `anchor`, which would make it a link of something else (§3.2).
 */
export function nextTarget(links: readonly Link[]): string | undefined {
  return links.find(({ parameters }) =>
    !parameters.has("anchor") &&
    (parameters.get("rel") ?? "").toLowerCase().split(/[ \t]+/).includes("next")
  )?.target;
}
