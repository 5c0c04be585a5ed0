// Run it with `node node.ts`.
import { serve } from "@petstore/service/node";
import { apiKeys, createHandler, memoryStorage } from "@petstore/service";

const keys = apiKeys(["secret"]);
const handle = createHandler({ storage: memoryStorage(), keys });
const server = await serve(handle, { port: 8000 });
console.log(`The pet store listens at ${server.url}/v1/pets`);
