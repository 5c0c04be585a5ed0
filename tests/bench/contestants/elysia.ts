/**
 * The pet store on Elysia, with its own schemas, which it compiles ahead of time. On Bun, its home.
 *
 * @module
 */

import { Elysia, t } from "elysia";
import { badRequest, notFound, unauthorized } from "./contract.ts";
import { createPet, getPet, listPets } from "./pets.ts";
import { FIELDS, HAS_FIELDS, HOST, isAuthorized, PORT } from "./settings.ts";

const status = t.Union([
  t.Literal("available"),
  t.Literal("pending"),
  t.Literal("sold"),
]);

const app = new Elysia();
if (HAS_FIELDS) {
  app.onRequest(({ set }) => void Object.assign(set.headers, FIELDS));
}

app
  .onError(({ code, error, status }) => {
    if (code === "VALIDATION") return status(400, badRequest([error]));
  })
  .onBeforeHandle(({ request, status }) => {
    const isKnown = isAuthorized(request.headers.get("authorization"));
    if (!isKnown) return status(401, unauthorized);
  })
  .get("/v1/pets", ({ query, set }) => {
    const { pets, link } = listPets(query);
    if (link !== undefined) set.headers.link = link;
    return pets;
  }, {
    query: t.Object({
      limit: t.Integer({ minimum: 1, maximum: 100, default: 20 }),
      status: t.Optional(status),
      after: t.Optional(t.Integer()),
    }),
  })
  .get("/v1/pets/:petId", ({ params, status }) => {
    return getPet(params.petId) ?? status(404, notFound);
  }, { params: t.Object({ petId: t.Integer() }) })
  .post("/v1/pets", ({ body, set, status }) => {
    const pet = createPet(body);
    set.headers.location = `pets/${pet.id}`;
    return status(201, pet);
  }, {
    body: t.Object({
      name: t.String({ minLength: 1, maxLength: 255 }),
      categoryId: t.Integer(),
      status: t.Optional(status),
    }),
  })
  .listen({ port: PORT, hostname: HOST });
