import axios from "axios";
import axiosRetry from "axios-retry";
const env = process.env;
const client = axios.create({
  baseURL: env.PETSTORE_URL,
  timeout: Number(env.PETSTORE_TIMEOUT_MS),
  headers: { Authorization: `Bearer ${env.PETSTORE_KEY}` },
});
axiosRetry(client, { retries: 3 });
const limit = env.PETSTORE_LIMIT;
let result;
if (env.PETSTORE_CALL === "createPet") {
  result = (await client.post("/pets", JSON.parse(env.PETSTORE_PET))).data;
} else if (env.PETSTORE_CALL === "getPet") {
  result = (await client.get(`/pets/${env.PETSTORE_ID}`)).data;
} else if (env.PETSTORE_CALL === "listPets") {
  result = (await client.get("/pets", { params: { limit } })).data;
} else {
  result = [];
  for (let url = `${env.PETSTORE_URL}/pets?limit=${limit}`; url;) {
    const { data, headers } = await client.get(url);
    result.push(...data);
    const [, link] = /<([^>]*)>; rel="next"/.exec(headers.link ?? "") ?? [];
    url = link && new URL(link, url).href;
  }
}
console.log(JSON.stringify(result));
