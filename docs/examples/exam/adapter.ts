import process from "node:process";

const { env } = process;

async function send(path: string, init: RequestInit = {}): Promise<void> { // your SDK takes the place of this
  const headers = {
    authorization: `Bearer ${env.PETSTORE_KEY}`,
    "content-type": "application/json",
  };
  const signal = AbortSignal.timeout(Number(env.PETSTORE_TIMEOUT_MS));
  const answer = await fetch(env.PETSTORE_URL + path, {
    ...init,
    headers,
    signal,
  });
  if (!answer.ok) throw new Error(`${answer.status}`);
  console.log(JSON.stringify(await answer.json()));
}

if (env.PETSTORE_CALL === "createPet") {
  await send("/pets", { method: "POST", body: `${env.PETSTORE_PET}` });
} else if (env.PETSTORE_CALL === "getPet") {
  await send(`/pets/${env.PETSTORE_ID}`);
} else if (env.PETSTORE_CALL === "listPets") {
  await send(`/pets?limit=${env.PETSTORE_LIMIT}`);
} else process.exit(77); // walk: not supported
