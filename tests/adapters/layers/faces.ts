/** A handler with layers, called as a fetch function and as servers call it. */
import assert from "node:assert/strict";
import { type Handler, toResponse, webBody } from "../../../core/handler.ts";
import type { HandlerOptions } from "../../../mod.ts";
import { REX_JSON } from "../../support/pets.ts";

export const APP = "https://app.example.com";

export const SILENT = { onError() {} };
export const KEYS: HandlerOptions["keys"] = {
  verify: (key) => key === "secret" && { id: 1 },
};

/** How a handler is called: as a fetch function, or as servers call it. */
export const FACES: Readonly<
  Record<string, (handle: Handler, request: Request) => Promise<Response>>
> = {
  handle: (handle, request) => handle(request),
  answer: async ({ answer }, request) =>
    toResponse(await answer(request, undefined, webBody(request))),
};

export interface Refused {
  /** The method and path; by default a create. */
  readonly line?: string;
  readonly body?: BodyInit;
  readonly headers?: Readonly<Record<string, string>>;
  /** How many requests are sent: the last one is refused. Default: one. */
  readonly times?: 2;
  readonly options?: Partial<HandlerOptions>;
}

/** Sends a request with `Origin`; each time another pet. */
export function send(
  face: string,
  handle: Handler,
  { line = "POST /v1/pets", body, headers }: Refused = {},
  time = 0,
): Promise<Response> {
  const [method = "", path = ""] = line.split(" ");
  const sent = body ?? REX_JSON.replace("Rex", `Rex ${time}`);
  const init: RequestInit & { readonly duplex: "half" } = {
    method,
    duplex: "half",
    headers: {
      origin: APP,
      authorization: "Bearer secret",
      "content-type": "application/json",
      ...headers,
    },
    ...method === "POST" && {
      body: sent instanceof ReadableStream ? new ReadableStream() : sent,
    },
  };
  const ask = FACES[face] ?? assert.fail(face);
  return ask(handle, new Request(`http://localhost${path}`, init));
}
