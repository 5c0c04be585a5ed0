// app/v1/[...path]/route.ts
//
// If the pet store's sources are a folder of the project, `petstore`, add it to `exclude` in tsconfig.json,
// and set `target` to ES2020 or later and `allowImportingTsExtensions` to true.
import { apiKeys, createHandler, memoryStorage } from "../../../mod.ts";

const keys = apiKeys(["secret"]);
const handle = createHandler({ storage: memoryStorage(), keys });

export {
  handle as DELETE,
  handle as GET,
  handle as HEAD,
  handle as OPTIONS,
  handle as PATCH,
  handle as POST,
  handle as PUT,
};
