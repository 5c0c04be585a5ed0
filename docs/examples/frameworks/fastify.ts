import { fastify } from "fastify";
import { toNodeListener } from "../../../adapters/node/mod.ts";
import { apiKeys, createHandler, memoryStorage } from "../../../mod.ts";

const keys = apiKeys(["secret"]);
const handle = createHandler({ storage: memoryStorage(), keys });
const petStore = toNodeListener(handle);

const app = fastify();
app.addHook("onRequest", (request, reply, done) => {
  if (!request.url.startsWith("/v1/")) return done();
  reply.hijack();
  petStore(request.raw, reply.raw);
});
await app.listen({ port: 8000, host: "127.0.0.1" });
