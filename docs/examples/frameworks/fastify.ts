// Run it with `node fastify.ts`, after `npm install fastify`.
import { fastify } from "fastify";
import { toNodeListener } from "@petstore/service/node";
import { apiKeys, createHandler, memoryStorage } from "@petstore/service";

const keys = apiKeys(["secret"]);
const handle = createHandler({ storage: memoryStorage(), keys });
const petStore = toNodeListener(handle);

const app = fastify();
app.all("/v1/*", {
  // Before Fastify parses the body: the pet store reads it itself.
  onRequest(request, reply) {
    reply.hijack();
    petStore(request.raw, reply.raw);
  },
  handler() {},
});
await app.listen({ port: 8000, host: "127.0.0.1" });
