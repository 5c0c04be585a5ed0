import createClient from "openapi-fetch";
const env = process.env;
const client = createClient({
  baseUrl: env.PETSTORE_URL,
  headers: { Authorization: `Bearer ${env.PETSTORE_KEY}` },
});
const signal = () => AbortSignal.timeout(Number(env.PETSTORE_TIMEOUT_MS));
const of = ({ data, error, response }) => {
  if (error !== undefined || data === undefined) {
    throw new Error(`HTTP ${response.status}`);
  }
  return data;
};
const limit = Number(env.PETSTORE_LIMIT);
let result;
if (env.PETSTORE_CALL === "createPet") {
  result = of(
    await client.POST("/pets", {
      body: JSON.parse(env.PETSTORE_PET),
      signal: signal(),
    }),
  );
} else if (env.PETSTORE_CALL === "getPet") {
  result = of(
    await client.GET("/pets/{petId}", {
      params: { path: { petId: env.PETSTORE_ID } },
      signal: signal(),
    }),
  );
} else if (env.PETSTORE_CALL === "listPets") {
  result = of(
    await client.GET("/pets", {
      params: { query: { limit } },
      signal: signal(),
    }),
  );
} else {
  result = [];
  for (let query = { limit }; query;) {
    const page = await client.GET("/pets", {
      params: { query },
      signal: signal(),
    });
    result.push(...of(page));
    const [, after] = /[?&]after=(\d+)[^>]*>; rel="next"/.exec(
      page.response.headers.get("link") ?? "",
    ) ?? [];
    query = after && { limit, after };
  }
}
console.log(JSON.stringify(result));
