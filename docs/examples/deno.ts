// Run it with `deno run -A deno.ts`.
import { apiKeys, createHandler, memoryStorage } from "@petstore/service";

const keys = apiKeys(["secret"]);
const handle = createHandler({ storage: memoryStorage(), keys });
Deno.serve({ port: 8000, hostname: "127.0.0.1" }, handle);
