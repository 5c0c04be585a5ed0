/** The order of layers, whatever order they are given in. */

import type { Layer, Service } from "../../core/kit.ts";

/** A place in the order. */
export type Place =
  | "metrics"
  | "log"
  | "cors"
  | "drain"
  | "limits"
  | "tracing";

/** Outermost first: each sees the answers of those after it. */
const PLACES: readonly Place[] = [
  "metrics", // counts every answer, and times all that follows
  "log", // logs every answer, even the 503 and the 429 of later layers
  "cors", // pages may read that 503 and 429 too
  "drain", // refuses with 503 when the server stops; waits for all that follows
  "limits", // turns a 401 of the service into a 429
  "tracing", // changes no answer
];

/** A layer of this package, which knows its place among the others. */
export interface PlacedLayer extends Layer {
  /** Its place. */
  readonly place: Place;
}

/** Gives a layer its place. */
export function placed(place: Place, layer: Layer): PlacedLayer {
  return Object.assign(layer, { place });
}

/** Tells whether a layer has no place, so that it stands outside those that have one. */
export function isOwn(layer: Layer): boolean {
  const { place } = layer as Partial<PlacedLayer>;
  return place === undefined || !PLACES.includes(place);
}

/** Wraps a service in layers: those without a place outside, in their order, the others sorted. */
export function layered(service: Service, layers: readonly Layer[]): Service {
  const sorted = PLACES.flatMap((place) =>
    layers.filter((layer) => (layer as Partial<PlacedLayer>).place === place)
  );
  return [...layers.filter(isOwn), ...sorted].reduceRight((inner, layer) => {
    const outer: unknown = layer(inner);
    if (typeof outer === "function") return outer as Service;
    throw new TypeError(
      "Wrong option layers: each must return a service, as in (service) => async (...request) => …",
    );
  }, service);
}
