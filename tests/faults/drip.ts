/** Clients that send nothing, or a drop at a time. */

import { connect } from "node:net";

/** What a client sends. */
export interface Dripping {
  /** At once. */
  readonly sent: string;
  /** Every half second. Default: nothing. */
  readonly drop?: string;
}

/** What is answered, and after how many seconds the server closes; `undefined` if it does not. */
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
