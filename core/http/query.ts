/** The parameters of a query. */

/** What is read of a query: `URLSearchParams`, or as much of one. */
export interface Query {
  /** The values of a parameter, in the order in which they were sent; `name` is of letters. */
  getAll(name: string): string[];
}

/** A query with nothing to decode, neither `%` nor `+`. */
const PLAIN = /^[\w&=.-]*$/;

/**
 * Reads the query of a URL, without its `?`, as `URLSearchParams` does (WHATWG URL §5.1).
 *
 * Nearly all queries have nothing to decode, and are split by hand: that is about twice as fast on Deno
 * and Bun (`deno task bench paths`).
 */
export function parseQuery(query: string): Query {
  return PLAIN.test(query) ? splitQuery(query) : decodeQuery(query);
}

/** Reads any query. */
export function decodeQuery(query: string): Query {
  // The constructor takes one leading "?" away: without this one, "??limit=5" would set the limit.
  return new URLSearchParams(`?${query}`);
}

function splitQuery(query: string): Query {
  const pairs = query.split("&");
  return {
    getAll(name) {
      const start = `${name}=`;
      const values: string[] = [];
      for (const pair of pairs) {
        if (pair.startsWith(start)) values.push(pair.slice(start.length));
        else if (pair === name) values.push("");
      }
      return values;
    },
  };
}
