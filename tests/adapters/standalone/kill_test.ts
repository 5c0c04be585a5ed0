import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient } from "../../../adapters/client/mod.ts";
import { inNewFolder, startMain } from "./program.ts";

const ROUNDS = 4;
const WRITERS = 16;
/** How many acknowledgements a round waits for before the server is killed in the midst of more. */
const ENOUGH = 200;

test("a server that is killed under load keeps every animal it answered 201 for", async () => {
  await inNewFolder(async (cwd) => {
    const env = { PETSTORE_API_KEYS: "secret", REQUEST_LOG: "off" };
    const acknowledged = new Map<bigint, string>();
    let sent = 0;

    for (let round = 0; round <= ROUNDS; round++) {
      const server = await startMain({ cwd, env });
      const options = {
        baseUrl: `${server.origin}/v1`,
        key: "secret",
        retries: 0,
      };
      const client = createClient(options);

      // What was acknowledged before the last kill is there, whole, and each animal once.
      const found = new Map<bigint, string>();
      for await (const pet of client.pets()) {
        assert.ok(!found.has(pet.id));
        assert.match(pet.name, /^Rex [0-9]+$/);
        assert.equal(pet.categoryId, BigInt(pet.name.slice(4)));
        found.set(pet.id, pet.name);
      }
      for (const [id, name] of acknowledged) assert.equal(found.get(id), name);

      if (round === ROUNDS) {
        server.kill("SIGTERM");
        await server.exited;
        break;
      }

      const enough = Promise.withResolvers<void>();
      const target = acknowledged.size + ENOUGH;
      const writers = Array.from({ length: WRITERS }, async () => {
        for (;;) {
          const number = ++sent;
          try {
            const pet = await client.createPet({
              name: `Rex ${number}`,
              categoryId: BigInt(number),
            });
            assert.ok(
              !found.has(pet.id) && !acknowledged.has(pet.id),
              "an id was used again",
            );
            acknowledged.set(pet.id, pet.name);
          } catch (cause) {
            assert.equal((cause as { code?: unknown }).code, "network_error");
            return;
          }
          if (acknowledged.size >= target) enough.resolve();
        }
      });
      await enough.promise;
      server.kill("SIGKILL");
      await server.exited;
      await Promise.all(writers);
    }
    console.log(
      `${ROUNDS} kills over HTTP, ${acknowledged.size} acknowledged, 0 lost`,
    );
  });
});
