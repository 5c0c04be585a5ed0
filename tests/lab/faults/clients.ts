/** Clients that send nothing, or a few bytes at a time, and one with a forged address. */

import { get } from "node:http";
import { connect } from "node:net";

/** The bytes that a client sends. */
export interface Dripping {
  /** At once. */
  readonly sent: string;
  /** Every half second. Default: nothing. */
  readonly drop?: string;
}

/** Resolves to the statuses of the answers, and the seconds until the server closed, if it did. */
export function drip(
  port: number,
  { sent, drop = "" }: Dripping,
  patience: number,
): Promise<
  { readonly statuses: readonly number[]; readonly seconds?: number }
> {
  return new Promise((resolve) => {
    const start = performance.now();
    const socket = connect(port, "127.0.0.1").setEncoding("latin1");
    let raw = "";
    const dripping = setInterval(() => socket.write(drop), 500);
    const timer = setTimeout(() => finish(false), patience);
    function finish(isClosed: boolean): void {
      clearInterval(dripping);
      clearTimeout(timer);
      socket.off("close", onClose).destroy();
      const statuses = [...raw.matchAll(/HTTP\/1\.1 (\d{3})/g)]
        .map(([, status]) => Number(status));
      const seconds = (performance.now() - start) / 1000;
      resolve(isClosed ? { statuses, seconds } : { statuses });
    }
    const onClose = (): void => finish(true);
    socket.on("data", (text: string) => raw += text);
    socket.on("error", () => {}).on("close", onClose);
    socket.write(sent);
  });
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
