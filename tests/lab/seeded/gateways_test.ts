/** The exam of gateways finds each harm of a gateway that was made to do it. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import test, { type TestContext } from "node:test";
import { GATEWAY_TRIALS } from "../../exam/gateway_trials.ts";
import { examineGateway, NotExamined } from "../../exam/through.ts";
import type { Finding } from "../../exam/verdict.ts";
import { type Received, sendOnce, type Sent } from "../../exam/send_once.ts";
import { atEnd } from "../../support/at_end.ts";
import { freePort } from "../../support/process.ts";
import { RUNTIME } from "../../support/runtime.ts";

/** What a gateway does between a request and its answer. */
type Habit = (
  sent: Sent,
  forward: (sent: Sent) => Promise<Received>,
) => Received | Promise<Received>;

const without = (name: string): Habit => async (sent, forward) => {
  const { [name]: _sent, ...headers } = sent.headers;
  const received = await forward({ ...sent, headers });
  const { [name]: _came, ...fields } = received.headers;
  return { ...received, headers: fields };
};

/** Sends a request again after what `isBad` tells. */
const repeating = (
  isBad: (received: Received, sent: Sent) => boolean,
): Habit =>
async (sent, forward) => {
  const first = await forward(sent);
  return isBad(first, sent) ? await forward(sent) : first;
};

const isLost = ({ problem }: Received) => problem === "lost";

function caching(): Habit {
  const kept = new Map<string, Received>();
  return async (sent, forward) => {
    const id = `${sent.method} ${sent.url} ${sent.headers.authorization}`;
    const received = kept.get(id) ?? await forward(sent);
    if (sent.method === "GET") kept.set(id, received);
    return received;
  };
}

const RIGHT: Readonly<Record<string, Habit>> = {
  "forwards": (sent, forward) => forward(sent),
  "writes links with their whole path": async (sent, forward) => {
    const { headers, ...more } = await forward(sent);
    const path = (link: string) =>
      new URL(link, sent.url).href.replace(/^.*?\d\//, "/");
    const link = headers.link?.replace(/<([^>]*)>/, (_, to) => `<${path(to)}>`);
    const location = headers.location && path(headers.location);
    return {
      ...more,
      headers: { ...headers, ...link && { link }, ...location && { location } },
    };
  },
  "answers 502 to a cut answer": async (sent, forward) => {
    const received = await forward(sent);
    const bad = { status: 502, headers: {}, text: "Bad Gateway" };
    return received.problem === undefined ? received : bad;
  },
  "sends a lost GET again": repeating((received, { method }) =>
    method === "GET" && isLost(received)
  ),
};

const WRONG: readonly [Finding["name"], string, Habit][] = [
  ["adds_two", "sends a lost create again", repeating(isLost)],
  [
    "adds_two",
    "sends a create again after 503 and 504",
    repeating(({ status }) => status >= 503),
  ],
  [
    "repeats_create",
    "sends a lost create with a key again",
    repeating(
      (received, { headers }) =>
        isLost(received) && "idempotency-key" in headers,
    ),
  ],
  [
    "too_early",
    "sends a list again at once",
    repeating(
      ({ status }, { method }) => status === 503 && method === "GET",
    ),
  ],
  ["loses_digits", "rounds", async (sent, forward) => {
    const { text, ...more } = await forward(sent);
    const isJson = /^[[{]/.test(text) && more.problem === undefined;
    return { ...more, text: isJson ? JSON.stringify(JSON.parse(text)) : text };
  }],
  ["loses_digits", "rounds what is created", (sent, forward) => {
    const { body = "" } = sent;
    const changed = body && JSON.stringify(JSON.parse(body));
    return forward({ ...sent, ...changed && { body: changed } });
  }],
  ["completes_cut_answer", "completes what was cut", async (sent, forward) => {
    const { problem, ...received } = await forward(sent);
    return problem === "cut"
      ? received
      : { ...received, ...problem && { problem } };
  }],
  ["caches", "caches lists", caching()],
  ...["authorization", "idempotency-key", "location", "link", "retry-after"]
    .map((name) =>
      ["changes_header", `drops ${name}`, without(name)] as [
        Finding["name"],
        string,
        Habit,
      ]
    ),
];

for (const [name, habit] of Object.entries(RIGHT)) {
  test(`a gateway that ${name} has no harm, on ${RUNTIME}`, async (t) => {
    const findings = await examine(t, habit);
    assert.deepEqual(findings.filter(({ isHarm }) => isHarm), []);
  });
}

for (const [expected, name, habit] of WRONG) {
  test(`a gateway that ${name} is caught: ${expected}, on ${RUNTIME}`, async (t) => {
    const findings = await examine(t, habit);
    const all = findings.map(({ name }) => name);
    assert.ok(all.includes(expected), `${all}`);
    for (const { shown } of findings) assert.doesNotMatch(shown, /undefined/);
    const others = findings.filter(({ isHarm, name }) =>
      isHarm && name !== expected
    );
    assert.deepEqual(others, []);
  });
}

test("examineGateway rejects if no request arrives", async () => {
  const address = `http://127.0.0.1:${await freePort()}/v1`;
  const listens = { port: 0, hostname: "127.0.0.1" };
  await assert.rejects(examineGateway(address, listens), NotExamined);
});

async function examine(t: TestContext, habit: Habit) {
  const upstream = await freePort();
  const port = await startGateway(t, habit, upstream);
  const address = `http://127.0.0.1:${port}/v1`;
  const listens = { port: upstream, hostname: "127.0.0.1" };
  const trials = GATEWAY_TRIALS.map((trial) => ({
    ...trial,
    faults: trial.faults.map((fault) =>
      fault.delay === undefined ? fault : { ...fault, delay: 50 }
    ),
  }));
  const results = await examineGateway(address, { ...listens, trials });
  return results.flatMap(({ findings }) => findings);
}

/** Starts a gateway in front of a port of this machine, and returns its own. */
async function startGateway(
  t: TestContext,
  habit: Habit,
  upstream: number,
): Promise<number> {
  const patience = { whole: 10_000, byte: 10_000 };
  const forward = (sent: Sent) => sendOnce(sent, patience);
  const server = createServer(async (request, response) => {
    const { method = "", url, headers } = request;
    const chunks = await Array.fromAsync(request as AsyncIterable<Uint8Array>);
    const body = chunks.map((chunk) => new TextDecoder().decode(chunk)).join(
      "",
    );
    const {
      host: _host,
      connection: _connection,
      "content-length": _,
      ...kept
    } = headers;
    const received = await habit({
      method,
      url: `http://127.0.0.1:${upstream}${url}`,
      headers: Object.fromEntries(
        Object.entries(kept).map(([name, value]) => [name, `${value}`]),
      ),
      body,
    }, forward);
    const {
      connection: _close,
      "content-length": length,
      "transfer-encoding": _chunked,
      ...fields
    } = received.headers;
    if (received.problem === "lost") return request.socket.destroy();
    if (received.problem === "cut") {
      const sized = length === undefined ? {} : { "content-length": length };
      response.writeHead(received.status, { ...fields, ...sized });
      return response.write(received.text, () => request.socket.destroy());
    }
    response.writeHead(received.status, fields).end(received.text);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  atEnd(t, () => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}
