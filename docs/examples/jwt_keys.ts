// API keys that are JSON Web Tokens, and a storage that knows the caller.
// Run it with `node jwt_keys.ts`, after `npm install jose`: it needs no server.
import {
  createHandler,
  memoryStorage,
  type PetStorage,
} from "@petstore/service";
import { decodeJwt, errors, jwtVerify, SignJWT } from "jose";
import { AsyncLocalStorage } from "node:async_hooks";

const secret = crypto.getRandomValues(new Uint8Array(32));
const audience = "petstore";

const keys = {
  async verify(token: string) {
    try {
      const { payload: { sub } } = await jwtVerify(token, secret, {
        algorithms: ["HS256"],
        audience,
        requiredClaims: ["sub"],
      });
      // The same for all tokens of a user, so that a create can be sent again with a new one.
      return sub ? { id: sub.slice(0, 64), caller: sub } : false;
    } catch (error) {
      if (error instanceof errors.JOSEError) return false;
      throw error;
    }
  },
};

const token = new AsyncLocalStorage<string>();
const storage = memoryStorage();
const told: PetStorage = {
  ...storage,
  async create(pet, options) {
    const { sub } = decodeJwt(token.getStore() ?? ""); // verified before
    const added = await storage.create(pet, options);
    if (!added.replayed) console.log(`${sub} added pet ${added.id}`);
    return added;
  },
};
const handle = createHandler({ storage: told, keys });

function answer(request: Request): Promise<Response> {
  const sent = request.headers.get("authorization")?.split(/ +/)[1] ?? "";
  return token.run(sent, () => handle(request));
}

// The second token is a refreshed one, and the third has expired.
for (const expires of ["1h", "2h", "-1h"]) {
  const key = await new SignJWT().setProtectedHeader({ alg: "HS256" })
    .setSubject("Ann").setAudience(audience).setExpirationTime(expires)
    .sign(secret);
  const response = await answer(
    new Request("http://localhost/v1/pets", {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "idempotency-key": "order-7" },
      body: new Blob(['{"name":"Rex","categoryId":1}']),
    }),
  );
  console.log(response.status, await response.text());
}
