/** The seeded clients of the exam are right if nothing goes wrong. */
import assert from "node:assert/strict";
import test from "node:test";
import { parseWithInt64 } from "../../../core/json.ts";
import { sandbox } from "../../../adapters/sandbox/mod.ts";
import { atEnd } from "../../support/at_end.ts";
import { RUNTIME } from "../../support/runtime.ts";
import { perform } from "./exam_client.ts";
import { RIGHT, WRONG } from "./exam_clients.ts";

const NAME = "Rex the 1st";
const CATEGORY = 3n;

test(`every seeded client is right without a fault, on ${RUNTIME}`, async (t) => {
  const store = sandbox({ pets: 30 });
  const { url, key, close } = await store.serve();
  atEnd(t, close);
  const env = {
    PETSTORE_URL: url,
    PETSTORE_KEY: key,
    PETSTORE_PET: `{"name":"${NAME}","categoryId":${CATEGORY},"status":"sold"}`,
    PETSTORE_NAME: NAME,
    PETSTORE_CATEGORY: `${CATEGORY}`,
    PETSTORE_STATUS: "sold",
    PETSTORE_ID: "7",
    PETSTORE_LIMIT: "20",
    PETSTORE_TIMEOUT_MS: "10000", // a busy machine
  };
  const clients = Object.assign({}, RIGHT, ...Object.values(WRONG));
  for (const [client, habits] of Object.entries(clients)) {
    const shown = async (call: string, count = 1) => {
      const run = { ...env, PETSTORE_CALL: call };
      const quick = { ...habits as object, starts: 0 };
      const { exit, stdout } = await perform(run, quick);
      assert.equal(exit, 0, `${client}, ${call}`);
      const text = stdout.replaceAll(/(\d)e0|"(\d+)"(?=,)/g, "$1$2");
      const lines = text.replace("\ufeff", "").trim().split("]\n");
      const pets = parseWithInt64(
        lines.join().replaceAll(",[", ","),
        "id",
        "categoryId",
      );
      const all = [pets].flat() as { id: bigint; categoryId: bigint }[];
      assert.equal(all.length, count, `${client}, ${call}`);
      return all[0];
    };
    store.reset();
    await shown("walk", 30);
    await shown("listPets", 20);
    assert.equal((await shown("getPet"))?.id, 7n, client);
    const rex = await shown("createPet");
    assert.deepEqual([rex?.id, rex?.categoryId], [31n, CATEGORY], client);
    assert.equal(store.pets.length, 31, client);
    assert.equal(store.pets[30]?.status, "sold", client);
  }
});
