/** Clients that send nothing, or a few bytes at a time, and one with a forged address. */

import { get } from "node:http";
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

/**
 * Sends `GET /v1/pets` with a forged `X-Forwarded-For` from an address of this machine; returns the
 * status.
 */
export function listFrom(localAddress: string, port: number): Promise<number> {
  const headers = {
    "authorization": "Bearer secret",
    "x-forwarded-for": "6.6.6.6",
  };
  const options = { port, localAddress, headers, agent: false };
  return new Promise((resolve, reject) => {
    get({ path: "/v1/pets", host: "127.0.0.1", ...options }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    }).on("error", reject);
  });
}
