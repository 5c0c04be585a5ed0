/** Waiting for what other processes do. */

/** Looks every 10 ms until it is so; rejects when it is not within `timeout` ms (by default, 30 s). */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  timeout = 30_000,
): Promise<void> {
  const deadline = performance.now() + timeout;
  while (!await isSo()) {
    if (performance.now() > deadline) {
      throw new Error(`Not within ${timeout} ms: ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
