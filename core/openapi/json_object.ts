/** A JSON object. Arrays in it contain no arrays. */
export interface JsonObject {
  /** A member. */
  readonly [name: string]:
    | string
    | number
    | boolean
    | null
    | JsonObject
    | readonly (string | number | JsonObject)[];
}
