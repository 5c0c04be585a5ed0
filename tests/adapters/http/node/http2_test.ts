import assert from "node:assert/strict";
import { connect, createServer } from "node:http2";
import { atEnd } from "../../../support/at_end.ts";
import { toNodeListener } from "../../../../adapters/http/node/mod.ts";
import { toHandler } from "../../../../core/handler.ts";
import { listenOn } from "../../../support/server.ts";
import { assertError } from "../../../contract/error_reply.ts";
import { pets, testOnNode as test } from "./on_node.ts";

test("toNodeListener refuses HTTP/2, and says to its owner and to clients why", async (t) => {
  const reported: unknown[] = [];
  const onError = (error: unknown) => void reported.push(error);
  const listener = toNodeListener(toHandler(pets()), { onError });
  // Its types are for `node:http`.
  const server = createServer(listener as unknown as () => void);
  const session = connect(`http://127.0.0.1:${await listenOn(t, server)}`);
  atEnd(t, () => session.close());
  const sentence =
    "Cannot answer HTTP/2: this handler is for node:http; put a proxy in front that accepts HTTP/2";
  for (let i = 0; i < 2; i++) {
    const stream = session.request({ ":path": "/v1/pets", ":method": "POST" })
      .setEncoding("utf8");
    stream.end('{"name":"Rex"}');
    const headers = new Headers();
    stream.once("response", (fields) => {
      for (const [name, value] of Object.entries(fields)) {
        if (!name.startsWith(":")) headers.set(name, String(value));
      }
    });
    let text = "";
    for await (const chunk of stream) text += chunk;
    const answer = { status: 500, headers, text };
    assert.equal(assertError(answer, "internal_error"), sentence);
  }
  assert.equal(reported.length, 2);
  for (const error of reported) {
    assert.equal(String(error), `Error: ${sentence}`);
  }
});
