// The pet store on Fastify, with JSON Schemas for what comes in and for what goes out: from the latter
// it makes serialisers of its own.
import Fastify, { type FastifyError } from "fastify";
import * as contract from "./contract.ts";
import * as pets from "./pets.ts";
import { FIELDS, HAS_FIELDS, HOST, isAuthorized, PORT } from "./settings.ts";

const [text, integer] = [{ type: "string" }, { type: "integer" }];
const status = { ...text, enum: ["available", "pending", "sold"] };

function object(properties: object, required: readonly string[] = []): object {
  return { type: "object", properties, required };
}

const pet = object(
  { id: integer, name: text, categoryId: integer, status: text },
  ["id", "name", "categoryId", "status"],
);
const name = { ...text, minLength: 1, maxLength: 255 };
const newPet = object(
  { name, categoryId: integer, status },
  ["name", "categoryId"],
);
const pageQuery = object({
  limit: { ...integer, minimum: 1, maximum: 100, default: 20 },
  status,
  after: integer,
});
const error = object(
  { code: text, message: text, status: integer },
  ["code", "message", "status"],
);

const app = Fastify({ logger: false });

app.setErrorHandler((cause: FastifyError, _request, reply) => {
  if (cause.validation === undefined) throw cause;
  return reply.code(400).send(contract.badRequest({ issues: [cause] }));
});

if (HAS_FIELDS) {
  app.addHook("onRequest", (_request, reply, done) => {
    reply.headers(FIELDS);
    done();
  });
}

app.addHook("onRequest", (request, reply, done) => {
  if (isAuthorized(request.headers.authorization)) return done();
  reply.code(401).send(contract.unauthorized);
});

app.get<{ Querystring: pets.PageQuery }>("/v1/pets", {
  schema: {
    querystring: pageQuery,
    response: { 200: { type: "array", items: pet }, "4xx": error },
  },
}, (request, reply) => {
  const page = pets.list(request.query);
  if (page.link !== undefined) reply.header("link", page.link);
  reply.send(page.pets);
});

app.get<{ Params: { petId: number } }>("/v1/pets/:petId", {
  schema: {
    params: object({ petId: integer }),
    response: { 200: pet, "4xx": error },
  },
}, (request, reply) => {
  const pet = pets.get(request.params.petId);
  if (pet === undefined) reply.code(404).send(contract.notFound);
  else reply.send(pet);
});

app.post<{ Body: pets.NewPet }>("/v1/pets", {
  schema: { body: newPet, response: { 201: pet, "4xx": error } },
}, (request, reply) => {
  const pet = pets.create(request.body);
  reply.code(201).header("location", `pets/${pet.id}`).send(pet);
});

await app.listen({ port: PORT, host: HOST });
