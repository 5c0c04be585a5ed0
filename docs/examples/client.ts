/**
 * A program that calls the service: adds an animal, then lists those that are available.
 *
 * ```sh
 * PETSTORE_URL=http://localhost:8000/v1 PETSTORE_KEY=pet_… node docs/examples/client.ts
 * ```
 *
 * @module
 */

import process from "node:process";
import { createClient, PetStoreError } from "../../adapters/client/mod.ts";

const { PETSTORE_URL = "http://localhost:8000/v1", PETSTORE_KEY = "" } =
  process.env;

try {
  const client = createClient({ baseUrl: PETSTORE_URL, key: PETSTORE_KEY });

  const rex = await client.createPet({
    name: "Rex",
    categoryId: 9007199254740993n,
  });
  console.log(`Added ${rex.name} as number ${rex.id}`);

  for await (const pet of client.pets({ status: "available" })) {
    console.log(`${pet.id} ${pet.name}, category ${pet.categoryId}`);
  }
} catch (error) {
  process.exitCode = 1;
  if (!(error instanceof PetStoreError)) throw error;
  console.error(`${error.message} (${error.code})`);
  if (error.uncertain) console.error("It may have been added all the same");
}
