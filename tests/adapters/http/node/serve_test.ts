/** What `serve` of Node's adapter passes on, and its limits of time. */
import assert from "node:assert/strict";
import type { Server as HttpServer } from "node:http";
import { serve } from "../../../../adapters/http/node/mod.ts";
import { toHandler } from "../../../../core/handler.ts";
import type { Service } from "../../../../mod.ts";
import { countKept } from "../../../support/garbage.ts";
import {
  answerOf,
  assertLast,
  pets,
  speak,
  testOnNode as test,
} from "./on_node.ts";
import { GET, ok, watch } from "../stage.ts";
import { REX_JSON } from "../../../support/pets.ts";
import { openWire, rawRequest, WITH_KEY } from "../../../support/wire.ts";

test("a handler is answered without Request, Response, Headers, stream or signal", async (t) => {
  const names = ["Request", "Response", "Headers", "ReadableStream"]
    .concat("AbortController", "URL");
  const globals = globalThis as unknown as Record<string, unknown>;
  const kept = names.map((name) => globals[name]);
  const { wire } = await speak(t, pets());
  names.forEach((name) => globals[name] = undefined);
  try {
    wire.write(rawRequest("POST /v1/pets", [WITH_KEY], REX_JSON));
    assert.equal((await wire.answer()).status, 201);
    wire.write(rawRequest("GET /v1/pets/1", [WITH_KEY]));
    const { lines, body } = await wire.answer();
    assert(lines.includes("content-type: application/json"));
    const pet = '{"id":1,"name":"Rex","categoryId":1,"status":"available"}';
    assert.equal(body, pet);
  } finally {
    names.forEach((name, i) => globals[name] = kept[i]);
  }
});

test("serve gives a client 10 s for a head, 30 s for a request, and 5 s until the next", async (t) => {
  const cases = [
    [{}, [10_000, 30_000, 5000]],
    [{ requestTimeout: 7000, keepAliveTimeout: 1 }, [7000, 7000, 1]],
    [{ requestTimeout: 0 }, [10_000, 0, 5000]],
    [{ headersTimeout: 0 }, [0, 30_000, 5000]],
  ] as const;
  for (const [options, times] of cases) {
    const service: Service = async (_request, socket) => {
      const { server } = socket as { readonly server: HttpServer };
      const { headersTimeout, requestTimeout, keepAliveTimeout } = server;
      return ok(`${[headersTimeout, requestTimeout, keepAliveTimeout]}`);
    };
    assert.equal((await answerOf(t, service, GET, options)).body, `${times}`);
  }
});

test("the answer after close is the last of its connection, begun or not", async (t) => {
  await assertLast(t, ({ stop }) => void stop());
});

test("serve keeps nothing of a connection that has ended", async (t) => {
  const sockets: WeakRef<object>[] = [];
  const service: Service = async (_request, socket) => {
    sockets.push(new WeakRef(socket as object));
    return ok("");
  };
  const server = await watch(t, (all) => serve(toHandler(service), all), {});
  const wire = await openWire(t, server, GET);
  await wire.answer();
  wire.close();
  assert.equal(await countKept(sockets), 0);
});
