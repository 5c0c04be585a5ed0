// The pet store on Express, with valibot. What it does beyond the work, an `ETag` for every answer and
// its own name in a header, is switched off.
import express, { type Response } from "express";
import * as v from "valibot";
import * as contract from "./contract.ts";
import * as pets from "./pets.ts";
import { FIELDS, HAS_FIELDS, HOST, isAuthorized, PORT } from "./settings.ts";

const app = express();
app.disable("x-powered-by");
app.disable("etag");

if (HAS_FIELDS) {
  app.use((_request, response, next) => {
    response.set(FIELDS);
    next();
  });
}

app.use((request, response, next) => {
  if (isAuthorized(request.headers.authorization)) return next();
  response.status(401).json(contract.unauthorized);
});

/** What is valid by a schema; `undefined` once the request was refused. */
function check<T>(
  schema: v.GenericSchema<unknown, T>,
  input: unknown,
  response: Response,
): T | undefined {
  const result = v.safeParse(schema, input);
  if (result.success) return result.output;
  response.status(400).json(contract.badRequest(result));
}

app.get("/v1/pets", (request, response) => {
  const query = check(contract.pageQuery, request.query, response);
  if (query === undefined) return;
  const page = pets.list(query);
  if (page.link !== undefined) response.setHeader("link", page.link);
  response.json(page.pets);
});

app.get("/v1/pets/:petId", (request, response) => {
  const path = check(contract.petParameters, request.params, response);
  if (path === undefined) return;
  const pet = pets.get(path.petId);
  if (pet === undefined) response.status(404).json(contract.notFound);
  else response.json(pet);
});

app.post("/v1/pets", express.json(), (request, response) => {
  const newPet = check(contract.newPet, request.body, response);
  if (newPet === undefined) return;
  const pet = pets.create(newPet);
  response.status(201).setHeader("location", `pets/${pet.id}`).json(pet);
});

app.listen(PORT, HOST);
