/**
 * The pet store on Express, with valibot. What it does beyond the work, an `ETag` for every answer and
 * its own name in a header, is switched off.
 *
 * @module
 */

import express from "express";
import * as v from "valibot";
import { createPet, getPet, listPets } from "./pets.ts";
import {
  badRequest,
  newPet,
  notFound,
  pageQuery,
  petParameters,
  unauthorized,
} from "./contract.ts";
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
  response.status(401).json(unauthorized);
});

app.get("/v1/pets", (request, response) => {
  const query = v.safeParse(pageQuery, request.query);
  if (!query.success) {
    return void response.status(400).json(badRequest(query.issues));
  }
  const { pets, link } = listPets(query.output);
  if (link !== undefined) response.setHeader("link", link);
  response.json(pets);
});

app.get("/v1/pets/:petId", (request, response) => {
  const parameters = v.safeParse(petParameters, request.params);
  if (!parameters.success) {
    return void response.status(400).json(badRequest(parameters.issues));
  }
  const pet = getPet(parameters.output.petId);
  if (pet === undefined) response.status(404).json(notFound);
  else response.json(pet);
});

app.post("/v1/pets", express.json(), (request, response) => {
  const body = v.safeParse(newPet, request.body);
  if (!body.success) {
    return void response.status(400).json(badRequest(body.issues));
  }
  const pet = createPet(body.output);
  response.status(201).setHeader("location", `pets/${pet.id}`).json(pet);
});

app.listen(PORT, HOST);
