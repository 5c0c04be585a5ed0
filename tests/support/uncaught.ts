/**
 * Makes `deno test` fail if anything throws outside a test. Deno 2.9 ignores that from the first
 * test of `node:test` on, even in the top-level code of a file, whose other tests are then never
 * registered.
 */
for (const type of ["error", "unhandledrejection"]) {
  globalThis.addEventListener(
    type,
    (event) => event.stopImmediatePropagation(),
  );
}
