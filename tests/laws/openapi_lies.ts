/**
 * Ways to make the OpenAPI document false, by what they make it say.
 *
 * @module
 */

import { add, type Change, copy, move, remove, replace } from "./json_patch.ts";

const LIST = "/paths/~1pets/get";
const CREATE = "/paths/~1pets/post";
const PETS_OPTIONS = "/paths/~1pets/options";
const GET = "/paths/~1pets~1{petId}/get";
const PET_OPTIONS = "/paths/~1pets~1{petId}/options";
const DOCUMENT = "/paths/~1openapi.json/get";

const LIMIT = `${LIST}/parameters/0/schema`;
const AFTER = `${LIST}/parameters/2`;
const PET_ID = `${GET}/parameters/0/schema`;
const IF_NONE_MATCH = `${DOCUMENT}/parameters/0`;

const HEADERS = "/components/headers";
const SCHEMAS = "/components/schemas";
const NEW_PET = `${SCHEMAS}/NewPet/properties`;

/** The lies. */
export const lies: Readonly<Record<string, Change>> = {
  "limit has the maximum 99": replace(`${LIMIT}/maximum`, 99),
  "limit has the maximum 101": replace(`${LIMIT}/maximum`, 101),
  "limit has the minimum 0": replace(`${LIMIT}/minimum`, 0),
  "limit has the minimum 2": replace(`${LIMIT}/minimum`, 2),
  "limit has the default 19": replace(`${LIMIT}/default`, 19),
  "limit has the default 21": replace(`${LIMIT}/default`, 21),
  "limit has no maximum": remove(`${LIMIT}/maximum`),
  "after is an int32": replace(`${AFTER}/schema/format`, "int32"),
  "after is an integer of any size": remove(`${AFTER}/schema/format`),
  "after is required": replace(`${AFTER}/required`, true),
  "petId is an int32": replace(`${PET_ID}/format`, "int32"),
  "petId is at least 2": add(`${PET_ID}/minimum`, 2),
  "status lacks sold": replace(`${SCHEMAS}/PetStatus/enum`, [
    "available",
    "pending",
  ]),
  "status has lost": add(`${SCHEMAS}/PetStatus/enum/3`, "lost"),
  "a name has at most 254 characters": replace(
    `${NEW_PET}/name/maxLength`,
    254,
  ),
  "a name has at most 256 characters": replace(
    `${NEW_PET}/name/maxLength`,
    256,
  ),
  "a name has 0 characters or more": replace(`${NEW_PET}/name/minLength`, 0),
  "a name has 2 characters or more": replace(`${NEW_PET}/name/minLength`, 2),
  "a name may have any character": remove(`${NEW_PET}/name/pattern`),
  "a name may have DEL": replace(
    `${NEW_PET}/name/pattern`,
    "^[^\\x00-\\x1f]+$",
  ),
  "a name may have no C1 control": replace(
    `${NEW_PET}/name/pattern`,
    "^[^\\x00-\\x1f\\x7f-\\x9f]+$",
  ),
  "categoryId is an int32": replace(`${NEW_PET}/categoryId/format`, "int32"),
  "categoryId is an integer of any size": remove(
    `${NEW_PET}/categoryId/format`,
  ),
  "categoryId is at least 0": add(`${NEW_PET}/categoryId/minimum`, 0),
  "categoryId is a string": replace(`${NEW_PET}/categoryId`, {
    type: "string",
    maxLength: 20,
  }),
  "categoryId is not required": replace(`${SCHEMAS}/NewPet/required`, ["name"]),
  "status is required": add(`${SCHEMAS}/NewPet/required/2`, "status"),
  "an id is at least 2": add(`${SCHEMAS}/Pet/properties/id/minimum`, 2),
  "an id is an int32": replace(`${SCHEMAS}/Pet/properties/id/format`, "int32"),
  "a Pet has an age": add(`${SCHEMAS}/Pet/required/4`, "age"),
  "a page has at most 99 animals": replace(`${SCHEMAS}/Pets/maxItems`, 99),
  "an error code is another": replace(
    `${SCHEMAS}/Error/properties/code/enum/6`,
    "unsupported",
  ),
  "an Error has a cause": add(`${SCHEMAS}/Error/required/3`, "cause"),
  "the document is OpenAPI 3.0": replace(
    `${SCHEMAS}/OpenApi/properties/openapi/const`,
    "3.0.4",
  ),
  "a 200 has a Location": copy(
    `${CREATE}/responses/201/headers/Location`,
    `${LIST}/responses/200/headers/Location`,
  ),
  "a 405 of getPet has a Sunset": copy(
    `${GET}/responses/404/headers/Sunset`,
    `${GET}/responses/405/headers/Sunset`,
  ),
  "a 400 has Allow": copy(
    `${LIST}/responses/405/headers/Allow`,
    `${LIST}/responses/400/headers/Allow`,
  ),
  "a 304 has X-Content-Type-Options": copy(
    `${DOCUMENT}/responses/200/headers/X-Content-Type-Options`,
    `${DOCUMENT}/responses/304/headers/X-Content-Type-Options`,
  ),
  "Link is always there": replace(`${HEADERS}/Next-Link/required`, true),
  "Retry-After is always there": replace(
    `${HEADERS}/Retry-After/required`,
    true,
  ),
  "Sunset is another day": replace(
    `${HEADERS}/Sunset/schema/const`,
    "Fri, 06 Dec 2030 00:00:00 GMT",
  ),
  "a challenge has no error": replace(
    `${HEADERS}/WWW-Authenticate/schema/enum`,
    ['Bearer realm="petstore"'],
  ),
  "Retry-After is 2 or more": replace(
    `${HEADERS}/Retry-After/schema/minimum`,
    2,
  ),
  "Allow of /pets lacks POST": replace(
    `${HEADERS}/Pets-Allow/schema/const`,
    "GET, HEAD, OPTIONS",
  ),
  "Allow of /pets/{petId} has DELETE": replace(
    `${HEADERS}/Pet-Allow/schema/const`,
    "GET, HEAD, DELETE, OPTIONS",
  ),
  "Allow of /openapi.json lacks HEAD": replace(
    `${HEADERS}/OpenApi-Allow/schema/const`,
    "GET, OPTIONS",
  ),
  "the 405 of one operation has the Allow of another path": copy(
    `${GET}/responses/405/headers/Allow`,
    `${CREATE}/responses/405/headers/Allow`,
  ),
  "ETag is weak": replace(
    `${HEADERS}/ETag/schema/pattern`,
    '^W/"[^"]+"$',
  ),
  "the document is not to be stored": copy(
    `${LIST}/responses/200/headers/Cache-Control`,
    `${DOCUMENT}/responses/200/headers/Cache-Control`,
  ),
  "animals may be stored": copy(
    `${DOCUMENT}/responses/200/headers/Cache-Control`,
    `${LIST}/responses/200/headers/Cache-Control`,
  ),
  "an error is text/plain": move(
    `${LIST}/responses/400/content/application~1json`,
    `${LIST}/responses/400/content/text~1plain`,
  ),
  "a 201 is a page": copy(
    `${LIST}/responses/200/content`,
    `${CREATE}/responses/201/content`,
  ),
  "a 204 has content": copy(
    `${DOCUMENT}/responses/200/content`,
    `${PETS_OPTIONS}/responses/204/content`,
  ),
  "a 304 has content": copy(
    `${DOCUMENT}/responses/200/content`,
    `${DOCUMENT}/responses/304/content`,
  ),
  "a 404 has no content": remove(`${GET}/responses/404/content`),
  "a 405 has the code bad_request": copy(
    `${GET}/responses/400/content`,
    `${GET}/responses/405/content`,
  ),
  "getPet can be 410": copy(
    `${GET}/responses/404`,
    `${GET}/responses/410`,
  ),
  "the document can be 401": copy(
    `${LIST}/responses/401`,
    `${DOCUMENT}/responses/401`,
  ),
  "the document can be 500": copy(
    `${LIST}/responses/500`,
    `${DOCUMENT}/responses/500`,
  ),
  "OPTIONS can be 404": copy(
    `${GET}/responses/404`,
    `${PET_OPTIONS}/responses/404`,
  ),
  "OPTIONS can be 405": copy(
    `${GET}/responses/405`,
    `${PET_OPTIONS}/responses/405`,
  ),
  "OPTIONS can be 503": copy(
    `${LIST}/responses/503`,
    `${PETS_OPTIONS}/responses/503`,
  ),
  "OPTIONS needs a key": remove(`${PETS_OPTIONS}/security`),
  "OPTIONS looks for an animal": copy(
    `${GET}/parameters`,
    `${PET_OPTIONS}/parameters`,
  ),
  "the document needs a key": remove(`${DOCUMENT}/security`),
  "listPets needs no key": add(`${LIST}/security`, []),
  "nothing needs a key": replace("/security", []),
  "If-None-Match is required": replace(`${IF_NONE_MATCH}/required`, true),
  "If-None-Match is a number": replace(`${IF_NONE_MATCH}/schema`, {
    type: "integer",
    format: "int64",
  }),
  "If-None-Match has no effect": remove(`${DOCUMENT}/parameters`),
  "pets are put": move(CREATE, "/paths/~1pets/put"),
  "pets can be deleted": copy(GET, "/paths/~1pets~1{petId}/delete"),
  "pets are animals": move("/paths/~1pets", "/paths/~1animals"),
  "the document is YAML": move(
    "/paths/~1openapi.json",
    "/paths/~1openapi.yaml",
  ),
};
