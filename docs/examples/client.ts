/**
 * Adds a pet, then lists all available pets.
 *
 * Run it with `PETSTORE_URL=http://localhost:8000/v1 PETSTORE_KEY=pet_… node client.ts`.
 *
 * @module
 */

import process from "node:process";
import { createClient } from "@petstore/service/client";

const { PETSTORE_URL = "http://localhost:8000/v1", PETSTORE_KEY = "" } =
  process.env;
const client = createClient({ baseUrl: PETSTORE_URL, key: PETSTORE_KEY });

const pet = { name: "Rex", categoryId: 9007199254740993n };
const rex = await client.createPet(pet);
console.log(`Added ${rex.name} as number ${rex.id}`);

for await (const pet of client.pets({ status: "available" })) {
  console.log(`${pet.id} ${pet.name}, category ${pet.categoryId}`);
}
