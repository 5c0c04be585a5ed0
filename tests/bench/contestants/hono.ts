// The pet store on Hono, with its own bearer authentication and its validator for valibot.
import { vValidator } from "@hono/valibot-validator";
import { type Context, Hono } from "hono";
import { bearerAuth } from "hono/bearer-auth";
import * as contract from "./contract.ts";
import * as pets from "./pets.ts";
import { FIELDS, HAS_FIELDS, HOST, KEYS, listen, PORT } from "./settings.ts";

type Result = contract.Failure & { readonly success: boolean };

function refuse(result: Result, c: Context) {
  if (!result.success) return c.json(contract.badRequest(result), 400);
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
  noAuthenticationHeader: { message: contract.unauthorized },
  invalidToken: { message: contract.unauthorized },
}));

app.get("/v1/pets", vValidator("query", contract.pageQuery, refuse), (c) => {
  const page = pets.list(c.req.valid("query"));
  if (page.link !== undefined) c.header("Link", page.link);
  return c.json(page.pets);
});

app.get(
  "/v1/pets/:petId",
  vValidator("param", contract.petParameters, refuse),
  (c) => {
    const pet = pets.get(c.req.valid("param").petId);
    return pet === undefined ? c.json(contract.notFound, 404) : c.json(pet);
  },
);

app.post("/v1/pets", vValidator("json", contract.newPet, refuse), (c) => {
  const pet = pets.create(c.req.valid("json"));
  return c.json(pet, 201, { Location: `pets/${pet.id}` });
});

if (!listen((request) => app.fetch(request))) {
  const { serve } = await import("@hono/node-server");
  serve({ port: PORT, hostname: HOST, fetch: app.fetch });
}
