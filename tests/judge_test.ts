/** The judge, on stores with mistakes. `judge_slow.ts` adds choices. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createServer, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { apiKeys } from "../core/keys.ts";
import { ask, type OpenService } from "./contract/ask.ts";
import { assertRefused } from "./contract/error_reply.ts";
import { HOSTILE_BYTES_CLAUSES } from "./contract/hostile_bytes_contract.ts";
import { handleService } from "./support/handle_service.ts";
import { HTTP_CLAUSES } from "./contract/http_contract.ts";
import { INTERFACE_CLAUSES } from "./contract/interface_contract.ts";
import { petIn } from "./contract/pets_client.ts";
import { RAW_HTTP_CLAUSES } from "./contract/raw_http_contract.ts";
import { Wire } from "./contract/wire.ts";
import { listenOn } from "./support/server.ts";
import { storeOf } from "./support/seeded/choices.ts";
import {
  isNewFailure,
  judge,
  judgeClause,
  type Report,
} from "./judge/judge.ts";
import { readBaseline } from "./judge/baseline.ts";
import { pathOf } from "./support/repository.ts";
import { toJUnit } from "./judge/junit.ts";
import { LOOK } from "./judge/look.ts";
import { interfaceContract } from "./judge/mod.ts";
import { toTestCases } from "./judge/report.ts";
import {
  DECISIONS,
  describeSet,
  INTERFACE,
  OWN,
  ownOf,
  SENTENCES,
} from "./judge/sets.ts";
import { CLAUSES } from "./support/seeded/mistakes.ts";
import { connections, LEAVES_UNREAD } from "./judge/unread.ts";

const SPEC = { sets: [INTERFACE] };

const ALL = {
  ...INTERFACE_CLAUSES,
  ...HTTP_CLAUSES,
  ...RAW_HTTP_CLAUSES,
  ...HOSTILE_BYTES_CLAUSES,
};
/** Judges a service by one clause. */
const judgeBy = (sentence: string, service: OpenService) =>
  judgeClause(ALL[sentence] ?? assert.fail(sentence), service);

/** Does this with each connection to a server; returns the server, and the base address there. */
async function rawServer(t: TestContext, act: (socket: Socket) => unknown) {
  const server = createServer((socket) => act(socket.on("error", () => {})));
  return { server, base: `http://127.0.0.1:${await listenOn(t, server)}/v1` };
}

function failing({ clauses }: Report): Report["clauses"] {
  return clauses.filter(({ outcome }) => outcome === "fails");
}

test("the judge blames no store without mistakes, and follows links to other pages", async () => {
  const stores = [
    [],
    ["the store has 250 pets", "ids go down from -1", "the newest comes first"],
    ["pages have 7 pets", "pets have more members", "ids start at 0"],
  ];
  for (const choices of stores) {
    const { clauses } = await judge(storeOf(...choices), SPEC);
    const others = clauses.filter(({ outcome }) => outcome !== "holds");
    const seen = others.map(({ sentence, outcome }) =>
      `${sentence}: ${outcome}`
    );
    const full = `${EMPTY}: unchecked`;
    assert.deepEqual(
      seen,
      choices[0]?.includes("250") ? [full] : [],
      choices.join(),
    );
  }
});

const EMPTY = "listPets returns an empty array if no animal has the status";

test("the judge blames each mistake by the clause of its name", async () => {
  for (const [mistake, sentence] of Object.entries(CLAUSES)) {
    const found = await judgeBy(sentence, storeOf(mistake));
    assert.equal(found.outcome, "fails", mistake);
    assert.ok(found.says !== undefined && found.reason !== "", mistake);
  }
});

test("a report is JUnit's XML too, whatever a store answers", () => {
  const clauses = [
    { sentence: "a < b", source: "interface", outcome: "holds" },
    {
      sentence: "c",
      source: "decision",
      outcome: "fails",
      reason: 'it is "\0"',
      exchange: "> GET &\n< ]]>",
    },
    { sentence: "d", source: "decision", outcome: "unchecked", reason: "TLS" },
    {
      sentence: "e",
      source: "decision",
      outcome: "fails",
      reason: "no",
      known: true,
    },
  ] as const;
  const address = "http://localhost/v1";
  const found = { sets: [], fixFirst: null, seed: 1, petsAdded: 0 };
  const xml = toJUnit(address, toTestCases({ address, clauses, ...found }));
  assert.equal(
    xml,
    `<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="4" failures="1" skipped="2">
  <testsuite name="http://localhost/v1" tests="4" failures="1" skipped="2">
    <testcase classname="interface" name="a &#60; b"></testcase>
    <testcase classname="decision" name="c"><failure message="it is &#34;\ufffd&#34;">&#10;&#62; GET &#38;&#10;&#60; ]]&#62;</failure></testcase>
    <testcase classname="decision" name="d"><skipped message="TLS"/></testcase>
    <testcase classname="decision" name="e"><skipped message="no"/></testcase>
  </testsuite>
</testsuites>
`,
  );
});

test("interfaceContract registers a test for each clause, which shows a wrong answer", async () => {
  const mistake = "limit is ignored with a status";
  const sentence = CLAUSES[mistake] ?? "";
  const { base, key, fetch } = storeOf(mistake);
  const checks = new Map<string, () => Promise<void>>();
  interfaceContract({
    it: (title, check) => checks.set(title, check),
    baseUrl: base,
    key,
    fetch,
  });
  assert.deepEqual([...checks.keys()], Object.keys(INTERFACE_CLAUSES));
  const check = checks.get(sentence);
  assert.ok(check);
  await assert.rejects(check, /\n> GET [^]*\n< 200/);
  const [first = ""] = Object.keys(INTERFACE_CLAUSES);
  await checks.get(first)?.();
});

test("each clause of the interface blames a mistake", () => {
  const blaming = new Set(Object.values(CLAUSES));
  assert.deepEqual([...blaming].sort(), Object.keys(INTERFACE_CLAUSES).sort());
});

test("the sets of clauses are frozen, and what a copy adds is in none", async () => {
  const frozen = {
    "interface 1.0, 35 clauses": "e0e4383f79c70574d4d9a3e07224c8ace7fa6360",
    "decisions 1.0, 84 clauses": "0865f865e54efe90000be0fbae69dcf0ed66c738",
  };
  const digests = [INTERFACE, DECISIONS].map(async (set) => {
    const text = Object.keys(set.clauses).join("\n");
    const bytes = await crypto.subtle.digest(
      "SHA-1",
      new TextEncoder().encode(text),
    );
    return [describeSet(set), Buffer.from(bytes).toString("hex")];
  });
  assert.deepEqual(Object.fromEntries(await Promise.all(digests)), frozen);
  const mine = { "removePet answers 204": async () => {} };
  assert.deepEqual(ownOf({ ...INTERFACE.clauses, ...mine }), mine);
  const { clauses, sets } = await judge(storeOf(), {
    sets: [INTERFACE, { ...OWN, clauses: mine }],
    only: new Set(["removePet answers 204"]),
  });
  assert.deepEqual(sets.map(({ clauses }) => clauses), [35, 1]);
  assert.deepEqual(
    clauses.map(({ source, outcome }) => [source, outcome]),
    [["own", "holds"]],
  );
});

test("the judge counts the pets it added: those repeated once, and those with a 200", async () => {
  const own = handleService();
  const cases = [
    [storeOf("201 is 200"), SPEC],
    // All clauses but those for sockets; some repeat a create.
    [{ ...own, base: own.base.replace("http:", "https:") }, {}],
  ] as const;
  for (const [service, options] of cases) {
    let added = 0;
    const { petsAdded } = await judge({
      ...service,
      async fetch(request) {
        const answer = await service.fetch(request);
        const isReplayed = answer.headers.has("idempotent-replayed");
        if (request.method === "POST" && answer.ok && !isReplayed) added++;
        return answer;
      },
    }, options);
    assert.equal(petsAdded, added, service.base);
    assert.ok(added > 9, service.base);
  }
});

test("the judge says first which request may have ended the service", async () => {
  // The second is checked before the clauses that come before it in the report.
  for (const end of ["?limit=1.5", "?limit=100"]) {
    const { fetch, ...service } = handleService();
    let asked = "";
    let isGone = false;
    const report = await judge({
      ...service,
      async fetch(request) {
        if (isGone) throw new TypeError("connect ECONNREFUSED 127.0.0.1:8000");
        // One clause has no answer long before the end.
        if (/pets\/\d{19}$/.test(request.url)) throw new TypeError("closed");
        isGone = request.url.endsWith(end);
        if (!isGone) return await fetch(request);
        asked = request.url;
        throw new TypeError("fetch failed", { cause: new Error("ECONNRESET") });
      },
    }, SPEC);
    const [verdict, ...more] = failing(report).filter(({ reason }) =>
      /any more: did this request end/.test(`${reason}`)
    );
    assert.deepEqual(more, [], end);
    assert.equal(report.fixFirst, verdict?.sentence, end);
    const { exchange = "" } = verdict ?? {};
    assert.ok(exchange.includes(`> GET ${asked}\n`), exchange);
    assert.match(exchange, /< nothing$/, end);
  }
});

test("bytes that may have ended the service come first, not the clause after them", async (t) => {
  const { server, base } = await rawServer(t, (socket) => {
    socket.destroy();
    server.close();
  });
  const { fetch, ...service } = handleService();
  const { clauses, fixFirst } = await judge({
    ...service,
    base,
    fetch: (request) =>
      server.listening
        ? fetch(request)
        : Promise.reject(new Error("ECONNREFUSED")),
  });
  const bytes = clauses.findIndex(({ sentence }) => sentence === fixFirst);
  assert.equal(fixFirst, Object.keys(RAW_HTTP_CLAUSES)[0]);
  assert.match(`${clauses[bytes + 1]?.reason}`, /nothing listens any more/);
});

test("a failure that is in the baseline is neither new nor what to fix first", async () => {
  const service = storeOf("any key will do", "names are trimmed");
  const found = failing(await judge(service, SPEC));
  const [first, ...more] = found;
  const known = new Set([first?.sentence ?? "", EMPTY]);
  const only = new Set([EMPTY, ...found.map(({ sentence }) => sentence)]);
  const report = await judge(service, { ...SPEC, only, known });
  const marked = report.clauses.filter((verdict) => verdict.known);
  assert.deepEqual(marked.map(({ sentence }) => sentence), [first?.sentence]);
  assert.equal(report.clauses.filter(isNewFailure).length, more.length);
  assert.equal(report.fixFirst, more[0]?.sentence);
  const all = await judge(service, { ...SPEC, only, known: SENTENCES });
  assert.equal(all.fixFirst, null);
});

test("the baseline for nginx names clauses of the judge", () => {
  const file = pathOf("docs/examples/nginx_accepted.txt");
  const options = { command: "judge", word: "fails", known: SENTENCES };
  const { size } = readBaseline(file, options);
  assert.equal(size, 15);
});

test("what to fix first is the cause of other failures", async () => {
  const causes = {
    "the listing is in an object": /^listPets returns an array/,
    "201 is 200": /^createPet answers 201/,
    "getPet answers in an array": /^getPet returns the animal/,
  };
  for (const [mistake, cause] of Object.entries(causes)) {
    const report = await judge(storeOf(mistake), SPEC);
    assert.match(report.fixFirst ?? "", cause, mistake);
    const [first, ...more] = failing(report);
    assert.ok(more.length > 0 && first !== undefined, mistake);
    const effects = failing(report).filter(({ because }) => because);
    assert.ok(effects.length > 0, mistake);
    for (const { because } of effects) assert.match(because ?? "", cause);
  }
});

test("fields that a gateway drops or adds are failures that say so", async () => {
  const failures = {
    "content-type":
      /^Content-Type is missing, and should be application\/json$/,
    location: /^Location is missing$/,
    link: /^Link is missing, and should lead to the next page$/,
    "cache-control": /^cache-control is missing, and should be 'no-store'$/,
    vary:
      /^the answer has vary, and should have no CORS header field: allow no/,
  };
  for (const [field, words] of Object.entries(failures)) {
    const { fetch, base, ...service } = handleService();
    const report = await judge({
      ...service,
      base: base.replace("http:", "https:"), // without the clauses for sockets
      async fetch(request) {
        const { headers, status, body } = await fetch(request);
        if (field === "vary") headers.set(field, "Origin");
        else headers.delete(field);
        return new Response(body, { headers, status });
      },
    });
    const [first, ...more] = failing(report);
    const cause = failing(report).find(({ because }) => because === undefined);
    assert.match(cause?.reason ?? "", words, field);
    assert.equal(report.fixFirst, cause?.sentence, field);
    if (field === "vary") {
      const asked = /^> OPTIONS[^]*\n< vary: Origin$/m;
      assert.match(first?.exchange ?? "", asked, field);
    }
    if (!/type|location/.test(field)) continue;
    assert.ok(more.length > 5, field);
    const others = failing(report).filter((verdict) => verdict !== cause);
    assert.ok(others.every(({ because }) => because !== undefined), field);
  }
});

test("the judge says if a connection is closed, and if there are more answers", async (t) => {
  let answers = "";
  const { base } = await rawServer(
    t,
    (socket) => socket.once("data", () => socket.end(answers)),
  );
  const service = { ...handleService(), base };
  const refused =
    "a malformed Host is 400, before the path, the method and the key";
  const none = "The connection was closed without an answer";
  assert.equal((await judgeBy(refused, service)).reason, none);
  answers = "HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n".repeat(3);
  const ended =
    "an HTTP/1.0 request with Transfer-Encoding is answered, and its connection ends";
  const { reason, exchange } = await judgeBy(ended, service);
  assert.match(`${reason}`, /^3 answers came, and the connection/);
  assert.match(`${exchange}`, /(?:\n< 201){3}$/);
});

/**
 * Serves a store, but answers a request with a wrong key or media type from its header alone, and
 * takes its body for the next request, or the start of one.
 */
function leaveUnread(socket: Socket, { fetch }: OpenService): void {
  let text = "";
  let isBusy = false;
  const answerNext = async (): Promise<void> => {
    const [head = "", rest] = text.split(/\r\n\r\n(.*)/s);
    if (isBusy || rest === undefined) return;
    const [line = "", ...lines] = head.split("\r\n");
    const [method = "", target = ""] = line.split(" ");
    const headers = new Headers(
      lines.map((line) => line.split(/: ?(.*)/, 2) as [string, string]),
    );
    const isEarly = headers.get("content-type") === "text/plain" ||
      headers.get("authorization") !== "Bearer secret";
    const length = isEarly ? 0 : Number(headers.get("content-length"));
    if (rest.length < length) return;
    text = rest.slice(length);
    isBusy = true;
    const isPlain = method === "GET" || method === "HEAD" || length === 0;
    const body = Buffer.from(rest.slice(0, length), "latin1");
    const request = { method, headers, ...isPlain ? {} : { body } };
    const answer = /^[A-Z]+$/.test(method)
      ? await fetch(new Request(`http://localhost${target}`, request))
      : new Response("what?", { status: 400 });
    const content = Buffer.from(await answer.arrayBuffer());
    const size = method === "HEAD" ? "" : `content-length: ${content.length}`;
    const fields = Array.from(answer.headers, (field) => field.join(": "));
    const kept = fields.filter((field) => !/^content-length/.test(field));
    socket.write(
      [`HTTP/1.1 ${answer.status} x`, size, ...kept, "\r\n"]
        .filter(Boolean).join("\r\n"),
    );
    socket.write(content);
    isBusy = false;
    await answerNext();
  };
  socket.setEncoding("latin1");
  socket.on("data", (chunk) => {
    text += chunk;
    answerNext();
  });
}

test("what fails because bodies are left unread is due to that, and nothing else", async (t) => {
  const own = handleService();
  const sockets: Socket[] = [];
  const { base } = await rawServer(t, (socket) => {
    sockets.push(socket);
    leaveUnread(socket, own);
  });
  const service = { ...own, base, fetch, ...connections(base) };
  const only = new Set([
    "createPet accepts JSON in UTF-8 alone, however Content-Type spells it",
    "no key or a wrong one is 401, whatever else is wrong with the request",
    "createPet answers 201 with the animal and a new id",
    "getPet returns the animal with this id, and no other",
  ]);
  const { fixFirst, unread, clauses } = await judge(service, { only });
  for (const socket of sockets) socket.destroy();
  assert.equal(fixFirst, LEAVES_UNREAD);
  assert.match(`${unread}`, /^> POST [^]*\n< 401\n[^]*\n> GET [^]*\n< 400\n/);
  const [wrong] = clauses.filter(({ outcome }) => outcome === "fails");
  const { because, alone, reason } = wrong ?? {};
  assert.deepEqual([because, alone], [LEAVES_UNREAD, "holds"]);
  assert.match(`${reason}`, /^what\?: 400/);
});

test("the judge reads the answers of servers that write them otherwise", async (t) => {
  const list =
    "HTTP/1.1 200 OK\r\nTransfer-Encoding:Chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n";
  const refusal = "HTTP/1.0 400 Bad Request\r\nContent-Length:0\r\n\r\n";
  const { base } = await rawServer(
    t,
    (socket) =>
      socket.once("data", (bytes) => {
        const isList = /^GET \/v1\/pets HTTP.*\r\nHost: 127.*\r\nAuth/s;
        socket.write(isList.test(`${bytes}`) ? list : refusal);
      }),
  );
  const sentence = "what is not HTTP is refused, and the next client is served";
  const service = { ...handleService(), base };
  const { outcome, reason } = await judgeBy(sentence, service);
  assert.equal(outcome, "holds", `${reason}`);
});

test("the judge blames no server for what HTTP lets it refuse or replace", async (t) => {
  const own = handleService();
  const { base } = await rawServer(
    t,
    (socket) =>
      socket.once("data", async (bytes) => {
        if (/chunked/.test(`${bytes}`)) {
          return socket.end("HTTP/1.1 501 Not Implemented\r\n\r\n");
        }
        const [body] = /\{.*\}/.exec(`${bytes}`) ?? [];
        await ask(own, "POST", "/pets", { body: `${body}` });
        socket.end("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n");
      }),
  );
  const allowed = [
    "an unknown coding",
    "chunks of another coding",
    "chunks in chunks",
    "a folded field",
    "a NUL within a field",
  ];
  for (const what of allowed) {
    const sentence = `a create with ${what} is never two requests`;
    const { outcome, reason } = await judgeBy(sentence, { ...own, base });
    assert.equal(outcome, "holds", `${sentence}: ${reason}`);
  }
});

test("an answer that never ends is read for ten times the longest silence", async (t) => {
  const { base } = await rawServer(t, (socket) => {
    const timer = setInterval(() => socket.write("x"), 5);
    socket.on("close", () => clearInterval(timer));
  });
  const wire = await Wire.to(base);
  await wire.until((text) => text !== "", 10_000);
  await wire.until(() => false, 200);
  assert.equal(wire.isClosed, false);
  wire.close();
});

test("the judge survives a store that lists ten thousand pets at once", async () => {
  const own = handleService();
  const pet = { id: 1, name: "Rex", categoryId: 1, status: "sold" };
  const crowd = Array.from({ length: 10_000 }, (_, i) => ({ ...pet, id: -i }));
  const titles = [
    "listPets filters by each status",
    "listPets returns the animals whose ids are above after",
  ];
  for (const title of titles) {
    const { outcome, reason = "" } = await judgeBy(title, {
      ...own,
      fetch: async (request) =>
        /pets\?/.test(request.url)
          ? Response.json(crowd)
          : await own.fetch(request),
    });
    assert.equal(outcome, "fails", title);
    assert.ok(reason.length <= 5000, title);
  }
});

test("a failure shows the request that failed, not the last one of its clause", async () => {
  const sentence = "every error has an Error body, even for an odd query or id";
  const service = storeOf("an odd id is text");
  const { exchange } = await judgeBy(sentence, service);
  assert.match(`${exchange}`, /^> GET \S+\/pets\/x\n/);
});

test("a reason names a member that is missing or of another type in words of JSON", async () => {
  const pet = { id: 1, name: "Rex", categoryId: 1 };
  const reasons = [
    [404, { code: "a", message: "b" }],
    [404, { code: "a", message: "b", status: "404" }],
    [200, { ...pet, id: "1" }],
    [200, { ...pet, id: 2 ** 64 }],
    [200, { ...pet, name: null }],
    [200, { ...pet, categoryId: undefined }],
  ].map(async ([status, body]) => {
    const headers = new Headers({ "content-type": "application/json" });
    const answer = {
      status: Number(status),
      headers,
      text: JSON.stringify(body),
    };
    const check = status === 200 ? petIn : assertRefused;
    const { reason } = await judgeClause(
      async () => void check(answer, answer.status),
      handleService(),
    );
    return reason;
  });
  assert.deepEqual(await Promise.all(reasons), [
    "status in the Error body is missing, and should be 404",
    "status in the Error body: '404' should be 404",
    "id is not an integer",
    "id is not an int64",
    "name is not a string",
    "categoryId is not an integer",
  ]);
});

test("a reason is short, however long the answer is", async () => {
  const { reason = "" } = await judgeClause(
    async () => assert.equal(500, 200, "x".repeat(1_000_000)),
    handleService(),
  );
  assert.match(reason, /^x{5000}$/);
});

test("what a reader would not see is shown", async () => {
  const reasonOf = async (is: string, not: string) => {
    const check = async () => assert.equal(is, not, "name");
    return (await judgeClause(check, handleService())).reason;
  };
  assert.equal(
    await reasonOf("Zo\u00eb🐕 \ufb01", "Zoe\u0308🐕\u00a0fi"),
    "name: 'Zoë🐕 \\u{fb01}' should be 'Zoe\\u{308}🐕\\xa0fi'",
  );
  const long = "x".repeat(1100);
  assert.equal(
    await reasonOf(long.slice(0, 255), long),
    `name: '${"x".repeat(49)}…${
      "x".repeat(40)
    }' (they differ at character 257) ` +
      `should be '${"x".repeat(49)}…${"x".repeat(140)}…`,
  );
  const { exchange } = await judgeClause(async (client) => {
    const bytes = new Uint8Array([0x7b, 0xff, 0x7d]);
    await client.post(bytes);
    client.service.seen?.("GET /é HTTP/1.1\r\nX: a\nB:\tc\0\r\n\r\n");
    throw new Error("It fails");
  }, handleService());
  assert.equal(
    exchange,
    "> GET /\\xe9 HTTP/1.1\n> X: a\\n\n> B:\\x09c\\x00\n< nothing",
  );
  const asked = await judgeClause(async (client) => {
    await client.post(new Uint8Array([0x7b, 0xff, 0x7d]));
    throw new Error("It fails");
  }, handleService());
  assert.match(`${asked.exchange}`, /^> \{\\xff\}$/m);
  const cut = await judgeClause(async (client) => {
    client.service.seen?.(`${"a: b\n".repeat(50)}${"y".repeat(999)}{"end":1}`);
    throw new Error("It fails");
  }, handleService());
  const lines = `${cut.exchange}`.split("\n");
  assert.ok(lines.length === 13 && /… \(51 lines\)/.test(`${lines[8]}`));
  assert.match(`${lines.at(-2)}`, /^> y{150}… \(1008 .*\) …y+\{"end":1\}$/);
});

/** A service that answers all requests in the same way. */
const always =
  (status: number, headers: Readonly<Record<string, string>> = {}) =>
  async (): Promise<Response> => new Response(null, { status, headers });
/** A service that lists no pets, and answers creates in this way. */
const creates =
  (text: string, status: number) =>
  async ({ method }: Request): Promise<Response> =>
    method === "POST" ? new Response(text, { status }) : new Response("[]");

/** What the judge says about services that it cannot check at all. */
const STRANGERS: readonly (readonly [
  cause: RegExp,
  answer: (request: Request) => Promise<Response>,
  exchange?: RegExp,
  base?: string,
])[] = [
  [/404: is the address right/, always(404), /^> POST \S+\/v1\/pets$/m],
  [
    /POST .*\/v1\/pets is 404, but .*t\/pets exists: give .* http:\/\/localhost$/,
    ({ url }) => always(url.includes("/v1") ? 404 : 200)(),
  ],
  [
    /POST .*t\/pets is 404, but .*\/v1\/pets exists: give .*localhost\/v1$/,
    ({ url }) => always(url.includes("/v1") ? 200 : 404)(),
    /^/,
    "http://localhost",
  ],
  [
    /POST .*v1\/pets\/pets is 405, but .*v1\/pets exists: give .*localhost\/v1$/,
    ({ url }) => always(url.endsWith("/pets/pets") ? 405 : 200)(),
    /^/,
    "http://localhost/v1/pets",
  ],
  [/405: is the address right/, always(405)],
  [/401: is this a key/, always(401)],
  [/429: turn off the rate limit/, always(429)],
  [
    /302, to \/login: is this the address/,
    always(302, { location: "/login" }),
  ],
  [
    /200, an HTML page: is this the address/,
    always(200, { "content-type": "text/html" }),
  ],
  [
    /^GET and POST .* does a gateway change .* Host.* says: bad host$/,
    async () => new Response("bad host", { status: 400 }),
  ],
  [
    /^The service refuses the pet .*--category ID. It says: \\x1b\[31m KEY$/,
    creates("\u001b[31m secret", 400),
  ],
  [/^POST \/pets with the pet .* is answered with 500/, creates("[]", 500)],
  [
    /^self.signed certificate.*NODE_EXTRA_CA_CERTS/,
    async () => {
      const cause = new Error("self-signed certificate");
      throw new TypeError("fetch failed", { cause });
    },
  ],
  [
    /CaUsedAsEndEntity.*; make one with openssl's .*CA:FALSE$/,
    () => Promise.reject(new TypeError("CaUsedAsEndEntity")),
  ],
  [/^No answer after 0.5 s$/, () => new Promise(() => {})],
  [
    /^The body is too long$/,
    async () =>
      new Response(
        new ReadableStream({
          pull: (stream) => stream.enqueue(new Uint8Array(2 ** 22)),
        }),
      ),
  ],
];

test("the judge looks first, and says what is likely if nothing can be judged", async () => {
  for (const [cause, fetch, exchange = /^/, base] of STRANGERS) {
    const own = handleService();
    const service = { ...own, fetch, key: "secret", base: base ?? own.base };
    // The others answer at once, which a busy machine may take longer for.
    const patience = cause.source.includes("0.5 s") ? 500 : 60_000;
    const { clauses, fixFirst } = await judge(service, { ...SPEC, patience });
    const [verdict] = clauses;
    assert.equal(clauses.length, 1, `${cause}`);
    assert.equal(verdict?.sentence, LOOK, `${cause}`);
    assert.equal(fixFirst, verdict?.reason, `${cause}`);
    assert.match(fixFirst ?? "", cause, `${cause}`);
    assert.match(verdict?.exchange ?? "", exchange, `${cause}`);
    assert.match(verdict?.exchange ?? "", /^> [^]*KEY/, `${cause}`);
    assert.doesNotMatch(verdict?.exchange ?? "", /secre/i, `${cause}`);
  }
});

test("the judge ends after three requests without an answer, and hides the key", async (t) => {
  const service = storeOf();
  let count = 0;
  const fetch = (request: Request): Promise<Response> =>
    count++ < 100 ? service.fetch(request) : new Promise(() => {});
  const { setTimeout } = globalThis;
  t.after(() => void Object.assign(globalThis, { setTimeout }));
  Object.assign(globalThis, {
    setTimeout: (end: () => void, ms: number) =>
      setTimeout(end, count < 100 ? ms : 20),
  });
  const { clauses } = await judge({ ...service, fetch }, {
    ...SPEC,
    patience: 60_000,
    known: SENTENCES,
  });
  assert.equal(clauses.filter(isNewFailure).length, 1, "the last to wait");
  const late = clauses.filter(({ reason }) =>
    reason === "No answer after 60 s"
  );
  assert.ok(late.length <= 3, `${late.length} waited`);
  assert.match(clauses.at(-1)?.reason ?? "", /3 requests in a row/);
  for (const { exchange = "" } of late) {
    assert.match(exchange, /^> [^]*< nothing$/);
    assert.ok(!exchange.includes(service.key), exchange);
  }
});

test("a connection that is closed once before an answer is no failure", async () => {
  const service = storeOf();
  let count = 0;
  const report = await judge({
    ...service,
    fetch: (request) =>
      count++ % 50 === 49
        ? Promise.reject(new TypeError("closed"))
        : service.fetch(request),
  }, SPEC);
  assert.deepEqual(failing(report), []);
  assert.ok(count > 500);
});

test("the same seed makes the same values", async () => {
  const bodies = async (seed: number): Promise<string> => {
    const { fetch, ...service } = handleService();
    const sent: string[] = [];
    const { clauses, ...report } = await judge({
      ...service,
      async fetch(request) {
        const body = await request.clone().text();
        if (body.includes("status")) {
          sent.push(body.replace(/Rex[a-z]{9}|0\d{18}/, ""));
        }
        return await fetch(request);
      },
    }, { ...SPEC, seed });
    assert.ok(clauses.length > 0);
    assert.equal(report.seed, seed);
    return sent.join("\n");
  };
  const first = await bodies(7);
  assert.equal(await bodies(7), first);
  assert.notEqual(await bodies(8), first);
});

test("the judge hides a key however it is written", async () => {
  for (const key of ["secret", "k", "Se+cret=="]) {
    const service = { ...handleService({ keys: apiKeys([key]) }), key };
    const forms = [key, key.toUpperCase(), btoa(`${key}:`), `X: ${key},x`];
    const { exchange = "" } = await judgeClause((client) => {
      client.service.seen?.(forms.join("\r\n"));
      return Promise.reject(new Error("It fails"));
    }, service);
    assert.equal(exchange, "> KEY\n> KEY\n> KEY\n> X: KEY,x\n< nothing", key);
  }
});

test("a key of one letter fails no clause on keys", async () => {
  const service = { ...handleService({ keys: apiKeys(["k"]) }), key: "k" };
  const clauses = { ...INTERFACE_CLAUSES, ...HTTP_CLAUSES };
  for (const [sentence, check] of Object.entries(clauses)) {
    if (!/\bkey\b/.test(sentence)) continue;
    const { outcome, reason } = await judgeClause(check, service);
    assert.equal(outcome, "holds", `${sentence}: ${reason}`);
  }
});
