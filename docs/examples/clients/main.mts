import createClient from "openapi-fetch";
import type { paths } from "./petstore.d.ts";

const { GET, POST } = createClient<paths>({
  baseUrl: "http://127.0.0.1:8000/v1",
  headers: { authorization: `Bearer ${process.env.PETSTORE_KEY}` },
});
const created = await POST("/pets", { body: { name: "Rex", categoryId: 7 } });
if (created.error) throw new Error(created.error.code);
let link = "";
do {
  const after = Number(/[?&]after=(-?\d+)/.exec(link)?.[1] ?? 0);
  const query = { limit: 1, after };
  const { data = [], response } = await GET("/pets", { params: { query } });
  for (const pet of data) console.log(pet.id, pet.name, pet.categoryId);
  link = response.headers.get("link") ?? "";
} while (link !== "");
