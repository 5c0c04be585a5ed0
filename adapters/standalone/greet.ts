/** The greeting: where the server listens, and how to get an API key. */

import { StorageError } from "../../core/pets/pet_storage.ts";
import { origin } from "../http/server.ts";
import { PROGRAM } from "./command_line.ts";
import { standardError } from "./output.ts";
import type { OpenService } from "./service.ts";

/** What the greeting depends on. Without fixed keys, the first key may be issued. */
interface Situation extends OpenService {
  /** If standard error is a terminal, where the first key is issued and shown. */
  readonly isTerminal: boolean;
}

/**
 * Tells people that the server listens. On a terminal it issues the very first key, so call it at
 * most once.
 */
export async function greet(
  address: { readonly hostname: string; readonly port: number },
  situation: Situation,
): Promise<void> {
  const { basePath, fixedKeysFrom, pageProblem } = situation;
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
      ? await issueFirstKey(pets, situation)
      : `The API keys are those in ${fixedKeysFrom}\nThe pet store listens at ${pets}\n`,
  );
  if (problem !== undefined) standardError.write(`${problem}\n`);
}

/** On a terminal, issues the first key. Returns what to tell: that key, or how to issue one. */
async function issueFirstKey(
  pets: string,
  { isTerminal, issuedKeys }: Situation,
): Promise<string> {
  let hint = isTerminal ? "For another API key" : "For an API key";
  try {
    const first = isTerminal && await issuedKeys.issueFirst("first key");
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
