import { apiKeys, createHandler, memoryStorage } from "../../mod.ts";

const keys = apiKeys(["secret"]);
const handle = createHandler({ storage: memoryStorage(), keys });
export default { fetch: (request: Request) => handle(request) };
