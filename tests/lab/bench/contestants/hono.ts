// The pet store on Hono, with its own bearer authentication and its validator for valibot.
import { vValidator } from "@hono/valibot-validator";
import { type Context, Hono } from "hono";
import { bearerAuth } from "hono/bearer-auth";
import { routePath } from "hono/route";
import * as contract from "./contract.ts";
import * as pets from "./pets.ts";
import * as settings from "./settings.ts";

type Result = contract.Failure & { readonly success: boolean };

function refuse(result: Result, c: Context) {
  if (!result.success) return c.json(contract.badRequest(result), 400);
}

const fields = Object.entries(settings.FIELDS);
const app = new Hono();

app.use(async (c, next) => {
  const start = performance.now();
  const id = settings.requestId();
  // Faster than after `next()`.
  for (const [name, value] of fields) c.header(name, value);
  c.header("x-request-id", id);
  await next();
  settings.log({
    method: c.req.method,
    route: routePath(c, -1),
    status: c.res.status,
    ms: performance.now() - start,
    id,
  });
});

app.use(bearerAuth({
  // Not `token`: with it, Hono 4 hashes the key at every request.
  verifyToken: (token) => settings.KEYS.has(token),
  noAuthenticationHeader: { message: contract.unauthorized },
  invalidToken: { message: contract.unauthorized },
}));

app.get(
  "/v1/pets",
  vValidator("query", contract.pageQuery, refuse),
  async (c) => {
    const page = await pets.list(c.req.valid("query"));
    if (page.link !== undefined) c.header("Link", page.link);
    return c.json(page.pets);
  },
);

app.get(
  "/v1/pets/:petId",
  vValidator("param", contract.petParameters, refuse),
  async (c) => {
    const pet = await pets.get(c.req.valid("param").petId);
    if (pet === undefined) {
      return c.json(contract.notFound, 404, settings.DEPRECATED);
    }
    return c.json(pet, 200, settings.DEPRECATED);
  },
);

app.post("/v1/pets", vValidator("json", contract.newPet, refuse), async (c) => {
  const pet = await pets.create(c.req.valid("json"));
  return c.json(pet, 201, { Location: `pets/${pet.id}` });
});

const address = { port: settings.PORT, hostname: settings.HOST };
const { Bun } = globalThis as unknown as {
  readonly Bun?: { serve(options: object): unknown };
};
if (Bun !== undefined) Bun.serve({ ...address, fetch: app.fetch });
else Deno.serve({ ...address, onListen: () => {} }, app.fetch);
