/** Calls a reporter, such as `onError`. If it fails itself, that is ignored. */
export function report(reporter: () => unknown): void {
  (async () => await reporter())().catch(() => {});
}
