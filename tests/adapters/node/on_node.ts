import { test } from "node:test";

const other = "Deno" in globalThis
  ? "Deno"
  : "Bun" in globalThis
  ? "Bun"
  : undefined;

/** Registers a test of what only Node has; elsewhere it is reported as skipped. */
export function testOnNode(
  name: string,
  run: () => void | Promise<void>,
): void {
  if (other === undefined) test(name, run);
  else test(name, { skip: `${other} has a server of its own` }, run);
}
