/** The exam of gateways, on nginx and HAProxy as they come, and on those that repeat creates. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { GATEWAY_TRIALS } from "../../exam/gateway_trials.ts";
import type { ExamReport } from "../../exam/report.ts";
import {
  findProgram,
  freePort,
  run,
  startProgram,
} from "../../support/process.ts";
import { pathOf } from "../../support/repository.ts";
import { commandLine, skipping, testUnless } from "../../support/runtime.ts";
import { newFolder } from "../../support/temporary_directory.ts";
import { until } from "../../support/time.ts";
import { rawRequest, statusOf } from "../../support/wire.ts";

const NGINX = findProgram("nginx");
const HAPROXY = findProgram("haproxy");
const nginxTest = testUnless(
  skipping(NGINX === undefined && "nginx is not installed"),
);
const haproxyTest = testUnless(
  skipping(HAPROXY === undefined && "haproxy is not installed"),
);

/** To a request of HTTP/1.0, which nginx sends by default, an answer without a length just ends. */
const AS_HTTP_1_0 = {
  "the chunks of a page end too early": ["completes_cut_answer"],
};

nginxTest("nginx as it comes completes cut chunks", async (t) => {
  const found = await examineNginx(t, (upstream) => ({
    location: `proxy_pass http://${upstream};`,
  }));
  assert.deepEqual(found, AS_HTTP_1_0);
});

nginxTest("nginx that sends HTTP/1.1 does no harm", async (t) => {
  const found = await examineNginx(t, (upstream) => ({
    location: `proxy_pass http://${upstream}; proxy_http_version 1.1;`,
  }));
  assert.deepEqual(found, {});
});

nginxTest("nginx with non_idempotent adds two pets", async (t) => {
  const found = await examineNginx(t, (upstream) => ({
    http: `upstream store {
      server ${upstream} max_fails=0;
      server ${upstream} max_fails=0;
    }`,
    location: `proxy_pass http://store; proxy_http_version 1.1;
      proxy_next_upstream error timeout http_503 http_504 non_idempotent;`,
  }));
  assert.deepEqual(found, REPEATING);
});

nginxTest("nginx with a cache serves what must not be stored", async (t) => {
  const found = await examineNginx(t, (upstream, folder) => ({
    http: `proxy_cache_path ${folder}/cache keys_zone=all:1m;`,
    location: `proxy_pass http://${upstream}; proxy_http_version 1.1;
      proxy_cache all; proxy_cache_key $request_uri$http_authorization;
      proxy_cache_valid 200 1m; proxy_ignore_headers Cache-Control;`,
  }));
  assert.deepEqual(found, {
    "a list again, after a pet was added": ["caches"],
  });
});

nginxTest("nginx that leaves a server out is not judged", async (t) => {
  const said = await examineNginx(t, (upstream) => ({
    http: `upstream store { server ${upstream}; server ${upstream}; }`,
    location: "proxy_pass http://store;",
  }));
  assert.match(`${said}`, /^No request of this trial .*502.*\n.*max_fails=0/);
});

haproxyTest("HAProxy as it comes does no harm", async (t) => {
  assert.deepEqual(await examineHaproxy(t, ""), {});
});

haproxyTest("HAProxy with all-retryable-errors adds two pets", async (t) => {
  const found = await examineHaproxy(t, "retry-on all-retryable-errors");
  assert.deepEqual(found, REPEATING);
});

/** What a gateway is found to do that repeats every request. */
const REPEATING = {
  "a create is lost after the work": ["adds_two"],
  "the connection of a create is reset after the work": ["adds_two"],
  "a create with an Idempotency-Key is lost after the work": ["repeats_create"],
  "a create is lost before the work": ["repeats_create"],
  "503 of a create, after the work": ["adds_two"],
  "504 of a create, after the work": ["adds_two"],
  "503 of a create, with Retry-After": ["too_early", "repeats_create"],
  "503 of a list, with Retry-After": ["too_early"],
};

interface Site {
  readonly http?: string;
  readonly location: string;
}

async function examineNginx(
  t: TestContext,
  siteOf: (upstream: string, folder: string) => Site,
) {
  const folder = newFolder(t);
  const [port, upstream] = [await freePort(), await freePort()];
  const { http = "", location } = siteOf(`127.0.0.1:${upstream}`, folder);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${folder}/${name};`).join("\n");
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off; master_process off; pid ${folder}/pid; error_log stderr crit;
events {}
http { access_log off;
${temporary}
${http}
server { listen 127.0.0.1:${port}; location / { ${location} } }
}
`,
  );
  startProgram(t, [NGINX ?? "", "-p", folder, "-c", "nginx.conf"]);
  return await examine(port, upstream);
}

async function examineHaproxy(t: TestContext, backend: string) {
  const folder = newFolder(t);
  const [port, upstream] = [await freePort(), await freePort()];
  const path = join(folder, "haproxy.cfg");
  writeFileSync(
    path,
    `defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend all
  bind 127.0.0.1:${port}
  default_backend store
backend store
  ${backend}
  server a 127.0.0.1:${upstream}
`,
  );
  startProgram(t, [HAPROXY ?? "", "-db", "-f", path]);
  return await examine(port, upstream);
}

/** The findings of each trial that has any. */
async function examine(port: number, upstream: number) {
  // Without a service behind it, it answers 502 or 503; nginx keeps no peer out for that.
  await until(
    "the gateway listens",
    () => statusOf(port, rawRequest("GET /", [])).then(() => true, () => false),
  );
  const address = `http://127.0.0.1:${port}/v1`;
  const options = ["--through", address, "--port", `${upstream}`, "--json"];
  const main = commandLine(pathOf("tests/exam/main.ts"));
  const { code, stdout, stderr } = await run([...main, ...options]);
  if (code === 2) return stderr;
  const { trials, harm }: ExamReport = JSON.parse(stdout);
  assert.equal(trials.length, GATEWAY_TRIALS.length);
  assert.equal(code, harm > 0 ? 1 : 0);
  const found = trials.filter(({ findings }) => findings.length > 0);
  return Object.fromEntries(
    found.map(({ title, findings }) => [title, findings]),
  );
}
