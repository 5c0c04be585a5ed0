// The pet store on Elysia, with its own schemas, which it compiles ahead of time. On Bun, its home.
import { Elysia, t } from "elysia";
import * as contract from "./contract.ts";
import * as pets from "./pets.ts";
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
    if (code !== "VALIDATION") return;
    return status(400, contract.badRequest({ issues: [error] }));
  })
  .onBeforeHandle(({ request, status }) => {
    const isKnown = isAuthorized(request.headers.get("authorization"));
    if (!isKnown) return status(401, contract.unauthorized);
  })
  .get("/v1/pets", ({ query, set }) => {
    const page = pets.list(query);
    if (page.link !== undefined) set.headers.link = page.link;
    return page.pets;
  }, {
    query: t.Object({
      limit: t.Integer({ minimum: 1, maximum: 100, default: 20 }),
      status: t.Optional(status),
      after: t.Optional(t.Integer()),
    }),
  })
  .get("/v1/pets/:petId", ({ params, status }) => {
    return pets.get(params.petId) ?? status(404, contract.notFound);
  }, { params: t.Object({ petId: t.Integer() }) })
  .post("/v1/pets", ({ body, set, status }) => {
    const pet = pets.create(body);
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
