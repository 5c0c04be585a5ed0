/** The parameters of a query. */

/** The part of `URLSearchParams` that is read. */
export type Query = Pick<URLSearchParams, "getAll">;

/** Reads the query of a URL, without its `?` (WHATWG URL §5.1). */
export function parseQuery(query: string): Query {
  // The constructor takes one leading "?" away: without this one, "??limit=5" would set the limit.
  return new URLSearchParams(`?${query}`);
}
