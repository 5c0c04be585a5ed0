/**
 * How long an answer may take at the most, from the defaults of `postgresStorage`, in ms.
 *
 * @module
 */

const CONNECT_TIMEOUT = 3000;
const QUERY_TIMEOUT = 5000;
const MAX_WAIT = 5000;

/** What the machine may add to it when it is busy. */
const SLACK = 1000;

/** A read is given a connection, and then an answer. */
export const LONGEST_READ = CONNECT_TIMEOUT + QUERY_TIMEOUT + SLACK;

/**
 * A create waits for the batch before its own. Where that took longer than `MAX_WAIT`, it is
 * refused; so the longest is one that came a little later, and is in a batch that takes as long.
 */
export const LONGEST_CREATE = MAX_WAIT + CONNECT_TIMEOUT + QUERY_TIMEOUT +
  SLACK;
