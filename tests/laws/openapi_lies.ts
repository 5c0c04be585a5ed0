/** Ways to make the OpenAPI document false, by what they make it say. @module */

import { add, type Change, copy, move, remove, replace } from "./json_patch.ts";

const LIST = "/paths/~1pets/get";
const CREATE = "/paths/~1pets/post";
const PETS_OPTIONS = "/paths/~1pets/options";
const GET = "/paths/~1pets~1{petId}/get";
const DOCUMENT = "/paths/~1openapi.json/get";

const LIMIT = `${LIST}/parameters/0/schema`;
const AFTER = `${LIST}/parameters/2`;

const HEADERS = "/components/headers";
const SCHEMAS = "/components/schemas";
const NEW_PET = `${SCHEMAS}/NewPet/properties`;

/** The lies: of each kind of thing that a document says, one or two. */
export const lies: Readonly<Record<string, Change>> = {
  "limit has the maximum 99": replace(`${LIMIT}/maximum`, 99),
  "limit has the maximum 101": replace(`${LIMIT}/maximum`, 101),
  "limit has the default 19": replace(`${LIMIT}/default`, 19),
  "after is an int32": replace(`${AFTER}/schema/format`, "int32"),
  "status lacks sold": replace(`${SCHEMAS}/PetStatus/enum`, [
    "available",
    "pending",
  ]),
  "status has lost": add(`${SCHEMAS}/PetStatus/enum/3`, "lost"),
  "a name has at most 256 characters": replace(
    `${NEW_PET}/name/maxLength`,
    256,
  ),
  "a name may have DEL": replace(
    `${NEW_PET}/name/pattern`,
    "^[^\\x00-\\x1f]+$",
  ),
  "categoryId is an integer of any size": remove(
    `${NEW_PET}/categoryId/format`,
  ),
  "categoryId is not required": replace(`${SCHEMAS}/NewPet/required`, ["name"]),
  "status is required": add(`${SCHEMAS}/NewPet/required/2`, "status"),
  "an id is an int32": replace(`${SCHEMAS}/Pet/properties/id/format`, "int32"),
  "a Pet has an age": add(`${SCHEMAS}/Pet/required/4`, "age"),
  "an error code is another": replace(
    `${SCHEMAS}/Error/properties/code/enum/6`,
    "unsupported",
  ),
  "a 200 has a Location": copy(
    `${CREATE}/responses/201/headers/Location`,
    `${LIST}/responses/200/headers/Location`,
  ),
  "a 304 has X-Content-Type-Options": copy(
    `${DOCUMENT}/responses/200/headers/X-Content-Type-Options`,
    `${DOCUMENT}/responses/304/headers/X-Content-Type-Options`,
  ),
  "Link is always there": replace(`${HEADERS}/Next-Link/required`, true),
  "Sunset is another day": replace(
    `${HEADERS}/Sunset/schema/const`,
    "Fri, 06 Dec 2030 00:00:00 GMT",
  ),
  "a challenge has no error": replace(
    `${HEADERS}/WWW-Authenticate/schema/enum`,
    ['Bearer realm="petstore"'],
  ),
  "Allow of /pets lacks POST": replace(
    `${HEADERS}/Pets-Allow/schema/const`,
    "GET, HEAD, OPTIONS",
  ),
  "ETag is weak": replace(
    `${HEADERS}/ETag/schema/pattern`,
    '^W/"[^"]+"$',
  ),
  "an error is text/plain": move(
    `${LIST}/responses/400/content/application~1json`,
    `${LIST}/responses/400/content/text~1plain`,
  ),
  "a 204 has content": copy(
    `${DOCUMENT}/responses/200/content`,
    `${PETS_OPTIONS}/responses/204/content`,
  ),
  "a 405 has the code bad_request": copy(
    `${GET}/responses/400/content`,
    `${GET}/responses/405/content`,
  ),
  "getPet can be 410": copy(
    `${GET}/responses/404`,
    `${GET}/responses/410`,
  ),
  "OPTIONS needs a key": remove(`${PETS_OPTIONS}/security`),
  "listPets needs no key": add(`${LIST}/security`, []),
  "If-None-Match has no effect": remove(`${DOCUMENT}/parameters`),
  "pets are put": move(CREATE, "/paths/~1pets/put"),
  "the document is YAML": move(
    "/paths/~1openapi.json",
    "/paths/~1openapi.yaml",
  ),
};
