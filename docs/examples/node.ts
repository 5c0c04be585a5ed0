import { serve } from "../../adapters/node/mod.ts";
import { apiKeys, createHandler, memoryStorage } from "../../mod.ts";

const keys = apiKeys(["secret"]);
const handle = createHandler({ storage: memoryStorage(), keys });
const server = await serve(handle, { port: 8000 });
console.log(`The pet store listens at ${server.url}/v1/pets`);
