/**
 * The pet store on Fastify, with JSON Schemas for what comes in and for what goes out: from the latter
 * it makes serialisers of its own.
 *
 * @module
 */

import Fastify from "fastify";
import { badRequest, notFound, unauthorized } from "./contract.ts";
import {
  createPet,
  getPet,
  listPets,
  type NewPet,
  type PageQuery,
} from "./pets.ts";
import { FIELDS, HAS_FIELDS, HOST, isAuthorized, PORT } from "./settings.ts";

const status = { type: "string", enum: ["available", "pending", "sold"] };
const pet = {
  type: "object",
  properties: {
    id: { type: "integer" },
    name: { type: "string" },
    categoryId: { type: "integer" },
    status: { type: "string" },
  },
  required: ["id", "name", "categoryId", "status"],
};
const error = {
  type: "object",
  properties: {
    code: { type: "string" },
    message: { type: "string" },
    status: { type: "integer" },
  },
  required: ["code", "message", "status"],
};

const app = Fastify({ logger: false });

app.setErrorHandler(
  (cause: Error & { validation?: unknown }, _request, reply) => {
    if (cause.validation === undefined) throw cause;
    return reply.code(400).send(badRequest([cause]));
  },
);

if (HAS_FIELDS) {
  app.addHook("onRequest", (_request, reply, done) => {
    reply.headers(FIELDS);
    done();
  });
}

app.addHook("onRequest", (request, reply, done) => {
  if (isAuthorized(request.headers.authorization)) return done();
  reply.code(401).send(unauthorized);
});

app.get<{ Querystring: PageQuery }>("/v1/pets", {
  schema: {
    querystring: {
      type: "object",
      properties: {
        limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
        status,
        after: { type: "integer" },
      },
    },
    response: { 200: { type: "array", items: pet }, "4xx": error },
  },
}, (request, reply) => {
  const { pets, link } = listPets(request.query);
  if (link !== undefined) reply.header("link", link);
  reply.send(pets);
});

app.get<{ Params: { petId: number } }>("/v1/pets/:petId", {
  schema: {
    params: { type: "object", properties: { petId: { type: "integer" } } },
    response: { 200: pet, "4xx": error },
  },
}, (request, reply) => {
  const pet = getPet(request.params.petId);
  if (pet === undefined) reply.code(404).send(notFound);
  else reply.send(pet);
});

app.post<{ Body: NewPet }>("/v1/pets", {
  schema: {
    body: {
      type: "object",
      properties: {
        name: { type: "string", minLength: 1, maxLength: 255 },
        categoryId: { type: "integer" },
        status,
      },
      required: ["name", "categoryId"],
    },
    response: { 201: pet, "4xx": error },
  },
}, (request, reply) => {
  const pet = createPet(request.body);
  reply.code(201).header("location", `pets/${pet.id}`).send(pet);
});

await app.listen({ port: PORT, host: HOST });
