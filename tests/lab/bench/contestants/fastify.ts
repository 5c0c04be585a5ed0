// The pet store on Fastify, with JSON Schemas for what comes in and for what goes out: from the latter
// it makes serialisers of its own.
import Fastify, { type FastifyError } from "fastify";
import * as contract from "./contract.ts";
import { type NewPet, PET_STATUSES } from "./pet.ts";
import * as pets from "./pets.ts";
import * as settings from "./settings.ts";

const [text, integer] = [{ type: "string" }, { type: "integer" }];
const status = { ...text, enum: PET_STATUSES };

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

const app = Fastify({ logger: false, genReqId: settings.requestId });

app.setErrorHandler((cause: FastifyError, _request, reply) => {
  if (cause.validation === undefined) throw cause;
  return reply.code(400).send(contract.badRequest({ issues: [cause] }));
});

app.addHook("onRequest", (request, reply, done) => {
  reply.headers(settings.FIELDS).header("x-request-id", request.id);
  const { authorization = "" } = request.headers;
  const isBearer = authorization.startsWith("Bearer ");
  if (isBearer && settings.KEYS.has(authorization.slice(7))) return done();
  reply.code(401).send(contract.unauthorized);
});

app.addHook("onResponse", (request, reply, done) => {
  settings.log({
    method: request.method,
    route: request.routeOptions.url,
    status: reply.statusCode,
    ms: reply.elapsedTime,
    id: request.id,
  });
  done();
});

app.get<{ Querystring: pets.PageQuery }>("/v1/pets", {
  schema: {
    querystring: pageQuery,
    response: { 200: { type: "array", items: pet }, "4xx": error },
  },
}, async (request, reply) => {
  const page = await pets.list(request.query);
  if (page.link !== undefined) reply.header("link", page.link);
  return page.pets;
});

app.get<{ Params: { petId: number } }>("/v1/pets/:petId", {
  schema: {
    params: object({ petId: integer }),
    response: { 200: pet, "4xx": error },
  },
}, async (request, reply) => {
  reply.headers(settings.DEPRECATED);
  const pet = await pets.get(request.params.petId);
  if (pet !== undefined) return pet;
  reply.code(404);
  return contract.notFound;
});

app.post<{ Body: NewPet }>("/v1/pets", {
  schema: { body: newPet, response: { 201: pet, "4xx": error } },
}, async (request, reply) => {
  const pet = await pets.create(request.body);
  reply.code(201).header("location", `pets/${pet.id}`);
  return pet;
});

await app.listen({ port: settings.PORT, host: settings.HOST });
