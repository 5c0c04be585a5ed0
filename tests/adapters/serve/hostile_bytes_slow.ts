/** Bytes meant to confuse, on every runtime there is. */
import test, { after } from "node:test";
import { hostileBytesContract } from "../../contract/register.ts";
import { findRuntimes, start } from "../../support/servers/start.ts";

for (const runtime of findRuntimes()) {
  const { name, missing } = runtime;
  if (missing !== undefined) {
    test(`${name}: bytes meant to confuse`, { skip: missing }, () => {});
    continue;
  }
  const program = start(runtime);
  after(() => program.stop());
  hostileBytesContract(name, async (options) => {
    const { port } = await program.open(options);
    return { port, key: "secret", close: () => Promise.resolve() };
  });
}
