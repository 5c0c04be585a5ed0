/** A sandbox behind its server: what is sent to it, and how requests end. */
import { until } from "../../support/time.ts";
import { rawRequest } from "../../support/wire.ts";
import type { RunningSandbox } from "./sandbox_program.ts";

export const LIST = rawRequest("GET /v1/pets", ["Authorization: Bearer test"]);

/** The head of a create with a body of so many bytes. */
export function headOf({ key }: RunningSandbox, length: number): string {
  const authorization = `Authorization: Bearer ${key}`;
  const fields = ["Connection: close", `Content-Length: ${length}`];
  return rawRequest("POST /v1/pets", [authorization, ...fields]);
}

/** The status of each request, or "open". */
export async function ends({ requests }: RunningSandbox) {
  return (await requests()).map(({ status, open }) => open ? "open" : status);
}

export async function untilEnded(sandbox: RunningSandbox): Promise<void> {
  const isEnded = async () => !(await ends(sandbox)).includes("open");
  await until("no entry is open", isEnded);
}
