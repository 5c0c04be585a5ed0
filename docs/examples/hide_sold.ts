// Run it with `node hide_sold.ts`: it needs no server.
import {
  apiKeys,
  createHandler,
  memoryStorage,
  type PetStorage,
} from "@petstore/service";
import { checkNewPet } from "@petstore/service/storage";

const storage = memoryStorage();
const unsold: PetStorage = {
  ...storage,
  async get(id) {
    const pet = await storage.get(id);
    return pet?.status === "sold" ? undefined : pet;
  },
  async list(query) {
    const page = await storage.list(query);
    const pets = page.pets.filter((pet) => pet.status !== "sold");
    return { ...page, pets };
  },
};
const handle = createHandler({ storage: unsold, keys: apiKeys(["secret"]) });

await storage.create(checkNewPet({ name: "Rex", categoryId: 1n }));
await storage.create(
  checkNewPet({ name: "Tom", categoryId: 1n, status: "sold" }),
);
const response = await handle(
  new Request("http://localhost/v1/pets", {
    headers: { authorization: "Bearer secret" },
  }),
);
console.log(await response.text());
