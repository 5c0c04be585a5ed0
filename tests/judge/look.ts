/** A first check, before the clauses: is there a pet store at all, and if not, why? */

import { type Answer, ask } from "../contract/ask.ts";
import type { PetsClient } from "../contract/pets_client.ts";

/** What the first check verifies. */
export const LOOK = "an animal can be listed, added and fetched";

/** Lists, adds and gets a pet. If no clause can be checked, rejects with the likely reason. */
export async function look(client: PetsClient): Promise<void> {
  const list = await client.get("/pets");
  assertLikely("GET /pets", list);
  const body = client.petJson();
  const created = await client.post(body);
  assertLikely("POST /pets", created);
  const { status, text } = created;
  if (status === 404 || status === 405) {
    throw new Error(await explainNoPets(client, status));
  }
  if (status === 400 && list.status === 400) {
    throw new Error(
      `GET and POST /pets are answered with 400: does a gateway change the requests, for example Host? The service says: ${
        text.slice(0, 1000)
      }`,
    );
  }
  if (status === 400 || status === 422) {
    throw new Error(
      `The service refuses the pet ${body} with ${status}: if it has other categories, name one with --category ID. It says: ${
        text.slice(0, 1000)
      }`,
    );
  }
  if (status < 200 || status > 299) {
    throw new Error(
      `POST /pets with the pet ${body} is answered with ${status}: nothing can be checked until that is 201`,
    );
  }
  if (client.isAfterRemoval) return;
  const [, id = "1"] = /"id"\s*:\s*"?([\w-]+)/.exec(text) ?? [];
  assertLikely("GET /pets/ID", await client.get(`/pets/${id}`));
}

/** Rejects answers that no pet store that knows the key would send. */
function assertLikely(request: string, { status, headers }: Answer): void {
  const told = `${request} is answered with ${status}`;
  const type = headers.get("content-type") ?? "";
  if (status === 401 || status === 403) {
    throw new Error(`${told}: is this a key of the service?`);
  }
  if (status === 429) {
    throw new Error(`${told}: turn off the rate limit`);
  }
  if (status >= 300 && status < 400) {
    const there = headers.get("location");
    throw new Error(
      `${told}, to ${there}: is this the address of the service?`,
    );
  }
  if (/^text\/html/i.test(type) && status < 300) {
    throw new Error(
      `${told}, an HTML page: is this the address of the service?`,
    );
  }
}

/** Returns the likely reason if no pets can be added at an address. */
async function explainNoPets(
  client: PetsClient,
  status: number,
): Promise<string> {
  const { fetch, base, key } = client.service;
  const above = base.replace(/\/(?:v1|pets)$/, "");
  const other = above === base ? `${base}/v1` : above;
  // Not by the client, whose last requests are shown: they went to the address that was given.
  const found = await ask({ fetch, base, key }, "GET", `${other}/pets`);
  return found.status === 404 || found.status === 405
    ? `POST ${base}/pets is answered with ${status}: is the address right?`
    : `POST ${base}/pets is ${status}, but ${other}/pets exists: give the address ${other}`;
}

/** The reason if a server refuses connections. */
export const NOTHING_LISTENS =
  "Nothing listens at this address: is the service running?";

/** Explains why there is no answer, which runtimes hide in causes. */
export function explainFailure(error: unknown): string {
  let cause = error;
  while (cause instanceof Error && cause.cause instanceof Error) {
    cause = cause.cause;
  }
  if (!(cause instanceof Error)) return String(cause);
  // If two addresses refuse, Node's error has no message.
  const { message, code = "" } = cause as Error & { readonly code?: string };
  const reason = message || code;
  // By default openssl marks a self-signed certificate as one of a CA.
  if (/CaUsedAsEndEntity/.test(reason)) {
    return `${reason}: Deno trusts no server whose certificate is that of a CA; make one with openssl's -addext basicConstraints=critical,CA:FALSE`;
  }
  if (/self.signed|UnknownIssuer|unable to verify|CERT/i.test(reason + code)) {
    return `${reason}: to trust the certificate, put its file in NODE_EXTRA_CA_CERTS on Node and Bun, or DENO_CERT on Deno`;
  }
  if (
    /ECONNREFUSED|connection refused|unable to connect/i.test(reason + code)
  ) {
    return NOTHING_LISTENS;
  }
  return cause === error ? reason : `No answer: ${reason}`;
}
