import test from "node:test";
import { patience, runs } from "../support/property.ts";
import { documentOf } from "./openapi_document.ts";
import { holdAgainst } from "./openapi_law.ts";

test(
  "the OpenAPI document is true: no request, allowed or not, is answered otherwise",
  { timeout: patience(2000) },
  async () => {
    await holdAgainst(documentOf(), runs(2000));
  },
);
