// The pet store on H3, with its own `serve` and its validation by Standard Schema (valibot).
import {
  getValidatedQuery,
  getValidatedRouterParams,
  H3,
  readValidatedBody,
  serve,
} from "h3";
import * as contract from "./contract.ts";
import * as pets from "./pets.ts";
import { FIELDS, HAS_FIELDS, HOST, isAuthorized, PORT } from "./settings.ts";

const app = new H3({
  silent: true,
  onError({ status, data }, event) {
    if (data === undefined) return;
    event.res.status = status;
    return contract.badRequest(data as contract.Failure);
  },
});

if (HAS_FIELDS) {
  app.use((event) => {
    for (const name in FIELDS) event.res.headers.set(name, FIELDS[name] ?? "");
  });
}

app.use((event) => {
  if (isAuthorized(event.req.headers.get("authorization"))) return;
  event.res.status = 401;
  return contract.unauthorized;
});

app.get("/v1/pets", async (event) => {
  const query = await getValidatedQuery(event, contract.pageQuery);
  const page = pets.list(query);
  if (page.link !== undefined) event.res.headers.set("link", page.link);
  return page.pets;
});

app.get("/v1/pets/:petId", async (event) => {
  const { petId } = await getValidatedRouterParams(
    event,
    contract.petParameters,
  );
  const pet = pets.get(petId);
  if (pet !== undefined) return pet;
  event.res.status = 404;
  return contract.notFound;
});

app.post("/v1/pets", async (event) => {
  const pet = pets.create(await readValidatedBody(event, contract.newPet));
  event.res.status = 201;
  event.res.headers.set("location", `pets/${pet.id}`);
  return pet;
});

serve(app, { port: PORT, hostname: HOST, silent: true });
