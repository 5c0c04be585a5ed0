/** Clients that send nothing, or a few bytes at a time. */

import { Wire } from "../../contract/wire.ts";
import { until } from "../../support/time.ts";

/** The bytes that a client sends. */
export interface Dripping {
  /** At once. */
  readonly sent: string;
  /** Every half second. Default: nothing. */
  readonly drop?: string;
}

/** Resolves to the statuses of the answers, and the seconds until the server closed, if it did. */
export async function drip(
  port: number,
  { sent, drop = "" }: Dripping,
  patience: number,
): Promise<
  { readonly statuses: readonly number[]; readonly seconds?: number }
> {
  const start = performance.now();
  const wire = await Wire.open(port, sent);
  const dripping = setInterval(() => wire.write(drop), 500);
  const isClosed = await until("closed", () => wire.isClosed, patience)
    .then(() => true, () => false);
  const seconds = (performance.now() - start) / 1000;
  clearInterval(dripping);
  wire.close();
  const statuses = [...wire.received.matchAll(/HTTP\/1\.1 (\d{3})/g)]
    .map(([, status]) => Number(status));
  return isClosed ? { statuses, seconds } : { statuses };
}
