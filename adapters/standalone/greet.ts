/** The greeting: where the server listens, and how to get an API key. */

import { StorageError } from "../../core/storage.ts";
import process from "node:process";
import { LOOPBACK, origin } from "../http/server.ts";
import { PROGRAM } from "../program/command_line.ts";
import { standardError } from "./output.ts";
import type { OpenService } from "./service.ts";

/**
 * Tells people that the server listens. On a terminal it issues the very first key, so call it at
 * most once. Not if others can reach the server: then the terminal is likely that of a container,
 * which keeps it as a log.
 *
 * @throws {Error} if nobody could ever get a key.
 */
export async function greet(
  address: { readonly hostname: string; readonly port: number },
  service: OpenService,
  isTerminal = process.stderr.isTTY === true,
): Promise<void> {
  const { basePath, fixedKeysFrom, pageProblem, isInMemory } = service;
  const mayIssue = isTerminal && LOOPBACK.test(address.hostname);
  if (fixedKeysFrom === undefined && isInMemory && !mayIssue) {
    throw new Error(
      "Cannot start without PETSTORE_API_KEYS: in memory, issued keys are lost when the server ends, and the first one is shown only on a terminal, by a server on 127.0.0.1",
    );
  }
  const problem = await pageProblem;
  const server = origin(address.hostname, address.port);
  const pets = `${server}${basePath}/pets`;
  const docs = `Read and try it at ${server}/docs\n`;
  // Written even without a page, to see below whether anything can be written.
  standardError.write(problem === undefined ? docs : "\n");
  // A key is shown only once, so none is issued while nothing can be written.
  if (!await standardError.flush()) return;
  standardError.write(
    fixedKeysFrom === undefined
      ? await showFirstKey(pets, service, mayIssue)
      : `The API keys are those in ${fixedKeysFrom}\nThe pet store listens at ${pets}\n`,
  );
  if (problem !== undefined) standardError.write(`${problem}\n`);
}

/** Issues the first key if it may. Returns what to tell: that key, or how to issue one. */
async function showFirstKey(
  pets: string,
  { issuedKeys }: OpenService,
  mayIssue: boolean,
): Promise<string> {
  let hint = mayIssue ? "For another API key" : "For an API key";
  try {
    const first = mayIssue && await issuedKeys.issueFirst("first key");
    if (first) return introduce(first.key, pets);
  } catch (cause) {
    if (!(cause instanceof StorageError)) throw cause;
    hint = `No API key could be issued: ${cause.message}\nTo issue one`;
  }
  return `${hint}, run: ${PROGRAM} keys issue NAME\nThe pet store listens at ${pets}\n`;
}

/** Shows two commands to start with, and then separately the address and the first key. */
function introduce(key: string, pets: string): string {
  const address = `'${pets.replaceAll("'", String.raw`'\''`)}'`; // for a shell
  const curl = `curl -w '\\n' -H "Authorization: Bearer ${key}"`;
  return `
Add a pet, then list the pets:

    ${curl} -H "Content-Type: application/json" -d '{"name":"Rex","categoryId":1}' ${address}
    ${curl} ${address}

The pet store listens at ${pets}
Its first API key, shown only now:

    ${key}

`;
}
