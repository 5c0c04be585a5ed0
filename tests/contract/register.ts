/** Registers the clauses of the contract over HTTP as tests. */

import type { Answer, OpenService } from "./ask.ts";
import { assertAnyError, assertJsonHeaders } from "./error_reply.ts";
import { HOSTILE_BYTES_CLAUSES } from "./hostile_bytes_contract.ts";
import { HTTP_CLAUSES } from "./http_contract.ts";
import { IDEMPOTENCY_CLAUSES } from "./http_idempotency_contract.ts";
import { INTERFACE_CLAUSES } from "./interface_contract.ts";
import { type Clauses, PetsClient, type ServerLimits } from "./pets_client.ts";
import { RAW_HTTP_CLAUSES } from "./raw_http_contract.ts";

/** A service on a socket; its base path is `/v1`. */
export interface OpenServer {
  readonly port: number;
  /** A key that it takes. */
  readonly key: string;
  close(): Promise<void>;
}

/** Registers a test. */
type RegisterTest = (title: string, check: () => Promise<void>) => unknown;

/** Registers the clauses for any client; `open` makes a fresh and empty service for each test. */
export function httpContract(
  it: RegisterTest,
  open: () => Promise<OpenService>,
): void {
  const cases = [INTERFACE_CLAUSES, HTTP_CLAUSES, IDEMPOTENCY_CLAUSES];
  for (const clauses of cases) {
    register(it, clauses, open);
  }
}

/** Registers the clauses for clients that write bytes; `open` makes a fresh and empty service. */
export function rawHttpContract(
  it: RegisterTest,
  open: (limits: ServerLimits) => Promise<OpenServer>,
): void {
  register(it, RAW_HTTP_CLAUSES, (limits) => asService(open(limits)));
}

/** Registers the clauses on hostile bytes for a runtime; `open` makes a fresh and empty service. */
export function hostileBytesContract(
  it: RegisterTest,
  runtime: "deno" | "bun" | "node",
  open: (limits: ServerLimits) => Promise<OpenServer>,
): void {
  register(
    it,
    HOSTILE_BYTES_CLAUSES,
    (limits) => asService(open(limits), { runtime }),
  );
}

async function asService(
  opening: Promise<OpenServer>,
  more: Partial<OpenService> = {},
): Promise<OpenService> {
  const { port, key, close } = await opening;
  return { fetch, base: `http://127.0.0.1:${port}/v1`, key, close, ...more };
}

function register(
  it: RegisterTest,
  clauses: Clauses,
  open: (limits: ServerLimits) => Promise<OpenService>,
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

/** Asserts the rules of every JSON response, whatever a clause looks at. */
function assertWellFormed(message: string | Answer): void {
  if (typeof message === "string") return;
  const { status, headers, text } = message;
  if (!headers.get("content-type")?.startsWith("application/json")) return;
  if (status < 400 || text === "") assertJsonHeaders(headers);
  else assertAnyError(message);
}
