/** A JSON object whose members are JSON; arrays hold no arrays. */
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
