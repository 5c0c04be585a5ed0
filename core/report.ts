/** Calls a reporter, such as `onError`. If the reporter itself fails, ignores it. */
export function report(reporter: () => unknown): void {
  (async () => await reporter())().catch(() => {});
}
