// Run it with `deno serve --host 127.0.0.1 server.ts` or `bun server.ts`, or deploy it as a Worker.
import { apiKeys, createHandler, memoryStorage } from "@petstore/service";

const keys = apiKeys(["secret"]);
const handle = createHandler({ storage: memoryStorage(), keys });
export default { fetch: handle, hostname: "127.0.0.1", port: 8000 };
