/**
 * What to do when a package is not installed. Deno installs them by itself, Bun sometimes.
 *
 * @module
 */

/** Says which command installs the package that an `import` did not find; `undefined` for any other error. */
export function missingPackage(cause: unknown): string | undefined {
  if (!(cause instanceof Error)) return undefined;
  const [, name] =
    /^Cannot find (?:package|module) ['"]((?:@[\w-]+\/)?[\w-]+)['"]/.exec(
      cause.message,
    ) ?? [];
  return name &&
    `The package ${name} is not installed: run "npx -y deno@2.9.6 install" in the folder of the pet store`;
}
