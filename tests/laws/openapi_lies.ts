/** Ways to make the OpenAPI document false, by what they make it say. */

import { add, type Change, copy, move, remove, replace } from "./json_patch.ts";

const LIST = "/paths/~1pets/get";
const CREATE = "/paths/~1pets/post";
const GET = "/paths/~1pets~1{petId}/get";
const DOCUMENT = "/paths/~1openapi.json/get";

const LIMIT = `${LIST}/parameters/0/schema`;
const AFTER = `${LIST}/parameters/2`;

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
  "an error code is one of two": add(
    `${SCHEMAS}/Error/properties/code/enum`,
    ["bad_request", "unauthorized"],
  ),
  "a 200 has a Location": copy(
    `${CREATE}/responses/201/headers/Location`,
    `${LIST}/responses/200/headers/Location`,
  ),
  "a 304 has a Link": copy(
    `${LIST}/responses/200/headers/Link`,
    `${DOCUMENT}/responses/304/headers/Link`,
  ),
  "Link is of the page before": replace(
    `${LIST}/responses/200/headers/Link/schema/pattern`,
    '^<[^<>]*>; rel="prev"$',
  ),
  "ETag is weak": replace(
    `${DOCUMENT}/responses/200/headers/ETag/schema/pattern`,
    '^W/"[^"]+"$',
  ),
  "Retry-After is at least 2": replace(
    `${CREATE}/responses/default/headers/Retry-After/schema/minimum`,
    2,
  ),
  "an error is text/plain": move(
    `${LIST}/responses/400/content/application~1json`,
    `${LIST}/responses/400/content/text~1plain`,
  ),
  "a 304 has content": copy(
    `${DOCUMENT}/responses/200/content`,
    `${DOCUMENT}/responses/304/content`,
  ),
  "any other error of getPet is a Pet": copy(
    `${GET}/responses/200/content`,
    `${GET}/responses/default/content`,
  ),
  "createPet has the other errors of listPets": copy(
    `${LIST}/responses/default/description`,
    `${CREATE}/responses/default/description`,
  ),
  "listPets has the other errors of createPet": copy(
    `${CREATE}/responses/default/description`,
    `${LIST}/responses/default/description`,
  ),
  "listPets can be 413, in its row": add(
    `${LIST}/errors/5`,
    "payload_too_large",
  ),
  "getPet is not deprecated": remove(`${GET}/deprecated`),
  "createPet is deprecated": add(`${CREATE}/deprecated`, true),
  "getPet can be 410": copy(
    `${GET}/responses/404`,
    `${GET}/responses/410`,
  ),
  "listPets needs no key": add(`${LIST}/security`, []),
  "If-None-Match has no effect": remove(`${DOCUMENT}/parameters`),
  "pets are put": move(CREATE, "/paths/~1pets/put"),
  "the document is YAML": move(
    "/paths/~1openapi.json",
    "/paths/~1openapi.yaml",
  ),
};
