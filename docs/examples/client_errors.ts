// Run it with `node client_errors.ts`: it needs no server.
import { createClient, PetStoreError } from "@petstore/service/client";
import { apiKeys, createHandler, memoryStorage } from "@petstore/service";

// Without the network.
const keys = apiKeys(["secret"]);
const handle = createHandler({ storage: memoryStorage(), keys });
const client = createClient({
  baseUrl: "http://localhost/v1",
  key: "another",
  fetch: handle,
});

try {
  await client.createPet({ name: "Rex", categoryId: 1n });
} catch (error) {
  if (!(error instanceof PetStoreError)) throw error;
  console.error(`${error.message} (${error.code})`);
  if (error.uncertain) console.error("The pet may have been added");
}
