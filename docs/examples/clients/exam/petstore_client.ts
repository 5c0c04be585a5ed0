import process from "node:process";
import { createClient, petToJson } from "@petstore/service/client";
const { env } = process;
const client = createClient({
  baseUrl: env.PETSTORE_URL ?? "",
  key: env.PETSTORE_KEY ?? "",
  timeout: Number(env.PETSTORE_TIMEOUT_MS),
});
const limit = Number(env.PETSTORE_LIMIT);
const show = (pets: readonly Parameters<typeof petToJson>[0][]) =>
  console.log(`[${pets.map(petToJson).join()}]`);
if (env.PETSTORE_CALL === "createPet") {
  const status = env.PETSTORE_STATUS as "sold" | undefined;
  console.log(
    petToJson(
      await client.createPet({
        name: env.PETSTORE_NAME ?? "",
        categoryId: BigInt(env.PETSTORE_CATEGORY ?? 0),
        ...status && { status },
      }),
    ),
  );
} else if (env.PETSTORE_CALL === "getPet") {
  console.log(petToJson(await client.getPet(BigInt(env.PETSTORE_ID ?? 0))));
} else if (env.PETSTORE_CALL === "listPets") {
  show((await client.listPets({ limit })).pets);
} else show(await Array.fromAsync(client.pets()));
