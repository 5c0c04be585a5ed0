/**
 * The pet store on Hono, with its own bearer authentication and its validator for valibot.
 *
 * @module
 */

import { vValidator } from "@hono/valibot-validator";
import { type Context, Hono } from "hono";
import { bearerAuth } from "hono/bearer-auth";
import { HAS_FETCH_SERVER, listen } from "./listen.ts";
import { createPet, getPet, listPets } from "./pets.ts";
import {
  badRequest,
  newPet,
  notFound,
  pageQuery,
  petParameters,
  unauthorized,
} from "./contract.ts";
import { FIELDS, HAS_FIELDS, HOST, KEYS, PORT } from "./settings.ts";

interface Checked {
  readonly success: boolean;
  readonly issues?: readonly { readonly message: string }[] | undefined;
}

function refuse({ success, issues = [] }: Checked, c: Context) {
  if (!success) return c.json(badRequest(issues), 400);
}

const app = new Hono();

if (HAS_FIELDS) {
  app.use(async (c, next) => {
    // Before is the faster way; what bearerAuth throws has an answer of its own.
    for (const name in FIELDS) c.header(name, FIELDS[name]);
    await next();
    if (c.error === undefined) return;
    for (const name in FIELDS) c.header(name, FIELDS[name]);
  });
}

app.use(bearerAuth({
  // Not `token`: with it, Hono 4 hashes the key at every request.
  verifyToken: (token) => KEYS.has(token),
  noAuthenticationHeader: { message: unauthorized },
  invalidToken: { message: unauthorized },
}));

app.get("/v1/pets", vValidator("query", pageQuery, refuse), (c) => {
  const { pets, link } = listPets(c.req.valid("query"));
  if (link !== undefined) c.header("Link", link);
  return c.json(pets);
});

app.get("/v1/pets/:petId", vValidator("param", petParameters, refuse), (c) => {
  const pet = getPet(c.req.valid("param").petId);
  return pet === undefined ? c.json(notFound, 404) : c.json(pet);
});

app.post("/v1/pets", vValidator("json", newPet, refuse), (c) => {
  const pet = createPet(c.req.valid("json"));
  return c.json(pet, 201, { Location: `pets/${pet.id}` });
});

if (HAS_FETCH_SERVER) listen((request) => app.fetch(request));
else {
  const { serve } = await import("@hono/node-server");
  serve({ port: PORT, hostname: HOST, fetch: app.fetch });
}
