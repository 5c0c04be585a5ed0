import { test } from "node:test";
import { skipping } from "../../support/skipping.ts";

const other = "Deno" in globalThis
  ? "Deno"
  : "Bun" in globalThis
  ? "Bun"
  : undefined;

const skip = skipping(
  other !== undefined && `${other} has a server of its own; Node's is for Node`,
);

/** Registers a test of what only Node has; elsewhere it is reported as skipped. */
export function testOnNode(
  name: string,
  run: () => void | Promise<void>,
): void {
  test(name, { skip }, run);
}
