/**
 * How near the Node adapter comes to `node:http` itself. Run by Node, on a machine that does nothing
 * else: `node bench/node_adapter.ts`. It takes half a minute.
 *
 * Every server gives the same small JSON answer. They take turns in short rounds, as the speed of a
 * machine wanders more in a minute than the servers differ; what is shown is the median of the
 * rounds, and its ratio to `node:http`. The load comes from a child process: keep-alive connections
 * on 127.0.0.1, one request under way on each.
 *
 * @module
 */

import { fork } from "node:child_process";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import process from "node:process";
import {
  type NodeListener,
  NodeResponse,
  toNodeListener,
} from "../adapters/http/node.ts";

const ROUNDS = 9;
const ROUND = 800; // ms
const CONNECTIONS = 32;
const TEXT = JSON.stringify([{ id: 1, name: "Rex", status: "available" }]);
const HEADERS = {
  "content-type": "application/json",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
};
const REQUEST = "GET /v1/pets?limit=20 HTTP/1.1\r\nHost: localhost:8000\r\n" +
  "Authorization: Bearer pet_0123456789\r\nAccept: */*\r\n\r\n";

const fetchFunction = (make: typeof Response) => (request: Request): Response =>
  // What any service looks at.
  request.method === "GET" && request.url.endsWith("/v1/pets?limit=20") &&
    request.headers.get("authorization") !== null
    ? new make(TEXT, { headers: HEADERS })
    : new make(null, { status: 404 });

const listeners: Readonly<Record<string, NodeListener>> = {
  "node:http": (_req, res) => {
    res.writeHead(200, { ...HEADERS, "content-length": TEXT.length });
    res.end(TEXT);
  },
  "NodeResponse": toNodeListener(fetchFunction(NodeResponse)),
  "Response": toNodeListener(fetchFunction(Response)),
};

/** Answers that a server at `port` gives in a second, over one round. */
function countAnswers(port: number): Promise<number> {
  return new Promise((resolve) => {
    let answers = 0;
    const sockets = Array.from({ length: CONNECTIONS }, () => {
      const socket = connect(port, "127.0.0.1", () => socket.write(REQUEST));
      // The whole answer comes in one packet, and ends like the text.
      socket.on("data", (bytes) => {
        if (bytes.at(-1) !== 0x5d && !bytes.includes("]\r\n0\r\n")) return;
        answers++;
        socket.write(REQUEST);
      });
      return socket;
    });
    setTimeout(() => {
      for (const socket of sockets) socket.destroy();
      resolve(answers * 1000 / ROUND);
    }, ROUND);
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

async function compare(): Promise<void> {
  const load = fork(new URL(import.meta.url), ["load"]);
  const ports = new Map<string, number>();
  const rates = new Map<string, number[]>();
  const servers = [];
  for (const [name, listener] of Object.entries(listeners)) {
    const server = createServer(listener);
    await new Promise<void>((go) => server.listen(0, "127.0.0.1", go));
    servers.push(server);
    ports.set(name, (server.address() as AddressInfo).port);
    rates.set(name, []);
  }
  // The first round warms up and is not counted.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, port] of ports) {
      load.send(port);
      const rate = await new Promise<number>((resolve) => {
        load.once("message", (rate) => resolve(Number(rate)));
      });
      if (round > 0) rates.get(name)?.push(rate);
    }
  }
  load.disconnect();
  for (const server of servers) server.close();

  const raw = rates.get("node:http") ?? [];
  console.log(`Node ${process.version}, ${ROUNDS} rounds of ${ROUND} ms`);
  for (const [name, all] of rates) {
    const ratio = median(all.map((rate, i) => rate / (raw[i] ?? NaN)));
    console.log(
      `${name.padEnd(14)}${median(all).toFixed(0).padStart(7)} requests/s` +
        `  × ${ratio.toFixed(2)}`,
    );
  }
}

if (process.argv[2] === "load") {
  process.on("message", async (port) => {
    process.send?.(await countAnswers(Number(port)));
  });
} else {
  await compare();
}
