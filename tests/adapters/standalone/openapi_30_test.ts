import assert from "node:assert/strict";
import test from "node:test";
import { toOpenApi30 } from "../../../adapters/standalone/openapi_30.ts";
import { openApi } from "../../../mod.ts";

test("OpenAPI 3.0 has one example in a schema, and nothing next to a reference", () => {
  const document = toOpenApi30(openApi());
  assert.equal(document.openapi, "3.0.3");
  const { summary, license } = document.info as {
    readonly summary?: string;
    readonly license: unknown;
  };
  assert.equal(summary, undefined);
  const url = "https://spdx.org/licenses/MIT";
  assert.deepEqual(license, { name: "MIT", url });
  let references = 0;
  JSON.stringify(document, (_key, value) => {
    if (value?.$ref !== undefined) {
      assert.deepEqual(Object.keys(value), ["$ref"]);
      references++;
    }
    assert.ok(!Array.isArray(value?.examples), JSON.stringify(value));
    return value;
  });
  assert.ok(references > 20);
  const { Pet, NewPet } = JSON.parse(JSON.stringify(document)).components
    .schemas;
  assert.equal(Pet.properties.name.example, "Rex");
  const { allOf, description } = NewPet.properties.status;
  assert.deepEqual(allOf, [{ $ref: "#/components/schemas/PetStatus" }]);
  assert.match(description, /available if it is omitted/);
});
