/** Registers the clauses of the contract over HTTP as tests. */

import type { Answer, OpenService } from "./ask.ts";
import { assertAnyError, assertJsonHeaders } from "./error_reply.ts";
import { HTTP_CLAUSES } from "./http_contract.ts";
import { IDEMPOTENCY_CLAUSES } from "./http_idempotency_contract.ts";
import { INTERFACE_CLAUSES } from "./interface_contract.ts";
import { type Clauses, PetsClient, type ServerLimits } from "./pets_client.ts";

/** Registers a test. */
type RegisterTest = (title: string, check: () => Promise<void>) => unknown;

/** Makes a fresh and empty service. */
type Open = (limits: ServerLimits) => Promise<OpenService>;

/** Registers the clauses for any client; each test opens a service. */
export function httpContract(it: RegisterTest, open: Open): void {
  const cases = [INTERFACE_CLAUSES, HTTP_CLAUSES, IDEMPOTENCY_CLAUSES];
  for (const clauses of cases) registerClauses(it, clauses, open);
}

/** Registers clauses; each test opens a service. */
export function registerClauses(
  it: RegisterTest,
  clauses: Clauses,
  open: Open,
): void {
  for (const [sentence, clause] of Object.entries(clauses)) {
    const { check, limits = {} } = typeof clause === "function"
      ? { check: clause }
      : clause;
    it(sentence, async () => {
      const service = await open(limits);
      try {
        await check(new PetsClient({ ...service, seen: assertWellFormed }));
      } finally {
        await service.close();
      }
    });
  }
}

/** Asserts the rules for every JSON response, whatever a clause checks. */
function assertWellFormed(message: string | Answer): void {
  if (typeof message === "string") return;
  const { status, headers, text } = message;
  if (!headers.get("content-type")?.startsWith("application/json")) return;
  if (status < 400 || text === "") assertJsonHeaders(headers);
  else assertAnyError(message);
}
